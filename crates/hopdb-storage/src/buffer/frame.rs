//! Memory for one page version, and the pin that keeps it.
//!
//! Invariant: bytes change only through [`PageRef::make_mut`], which copies when anybody else holds the frame (I1).

use std::cell::RefCell;
use std::ops::Deref;

use crate::sync::{Arc, AtomicBool, Ordering};

/// Most bytes of memory that a thread keeps for its next frames.
const SPARE_BYTES: usize = 1 << 20;

thread_local! {
    /// Memory of frames that are gone, of one length: a commit gives up about as many as it takes.
    static SPARE: RefCell<Vec<Box<[u8]>>> = const { RefCell::new(Vec::new()) };
}

/// A copy of `bytes`, in memory that a frame had before where there is some.
fn copied(bytes: &[u8]) -> Box<[u8]> {
    let spare = SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten();
    match spare.filter(|spare| spare.len() == bytes.len()) {
        Some(mut memory) => {
            memory.copy_from_slice(bytes);
            memory
        }
        None => Box::from(bytes),
    }
}

/// One page version in memory.
#[derive(Debug)]
pub(super) struct Frame {
    bytes: Box<[u8]>,
    touched: AtomicBool,
}

impl Clone for Frame {
    fn clone(&self) -> Self {
        Self { bytes: copied(&self.bytes), touched: AtomicBool::new(false) }
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        // At the end of a thread there is no list any more: the memory goes, then.
        SPARE
            .try_with(|spare| {
                let mut spare = spare.borrow_mut();
                if spare.len() * bytes.len() < SPARE_BYTES {
                    spare.push(bytes);
                }
            })
            .ok();
    }
}

/// A pinned page version: its bytes do not change and do not go while this lives.
#[derive(Clone, Debug)]
pub struct PageRef(Arc<Frame>);

impl PageRef {
    pub(crate) fn new(bytes: Box<[u8]>) -> Self {
        Self(Arc::new(Frame { bytes, touched: AtomicBool::new(false) }))
    }

    /// A frame of its own with the same bytes.
    pub(crate) fn copy_of(bytes: &[u8]) -> Self {
        Self::new(copied(bytes))
    }

    /// Bytes to change: in place when nobody else holds the frame, on a copy otherwise.
    pub(crate) fn make_mut(&mut self) -> &mut [u8] {
        &mut Arc::make_mut(&mut self.0).bytes
    }

    /// Whether both pin the same frame.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Pins besides this one.
    pub(super) fn pins(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }

    /// Marks the frame as used.
    pub(crate) fn touch(&self) {
        // Mostly marked already: no shared cache line is written then.
        if !self.0.touched.load(Ordering::Relaxed) {
            self.0.touched.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the frame was used since the last look; clears the mark.
    pub(crate) fn take_touched(&self) -> bool {
        self.0.touched.swap(false, Ordering::Relaxed)
    }
}

impl Deref for PageRef {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0.bytes
    }
}

impl AsRef<[u8]> for PageRef {
    fn as_ref(&self) -> &[u8] {
        self
    }
}
