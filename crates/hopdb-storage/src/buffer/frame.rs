//! Memory for one page version, and the pin that keeps it.
//!
//! Invariant: bytes change only through [`PageRef::make_mut`], which copies when anybody else holds the frame (I1).

use std::ops::Deref;

use crate::sync::{Arc, AtomicBool, Ordering};

/// One page version in memory.
#[derive(Debug)]
pub(super) struct Frame {
    bytes: Box<[u8]>,
    touched: AtomicBool,
}

impl Clone for Frame {
    fn clone(&self) -> Self {
        Self { bytes: self.bytes.clone(), touched: AtomicBool::new(false) }
    }
}

/// A pinned page version: its bytes do not change and do not go while this lives.
#[derive(Clone, Debug)]
pub struct PageRef(Arc<Frame>);

impl PageRef {
    pub(crate) fn new(bytes: Box<[u8]>) -> Self {
        Self(Arc::new(Frame { bytes, touched: AtomicBool::new(false) }))
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
