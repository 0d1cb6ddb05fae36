//! The bytes of answers: how many one may have, and how many there may be in all.
//!
//! Invariant: bytes are counted from when they are written until their connection has sent or dropped them, and are
//! never more than the limit. So clients that take nothing cost no more memory together than that.

use std::io;
use std::sync::Arc;

use axum::body::Bytes;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::failure::{Code, Failure};

/// The bytes of the smallest buffer.
const BYTES_MIN: usize = 256;

/// Makes answers.
#[derive(Debug)]
pub(crate) struct Answers {
    /// Bytes of one.
    most: usize,
    /// Bytes that are free, of those of all.
    room: Arc<Semaphore>,
}

impl Answers {
    /// Answers of `most` bytes each, and of `in_all` together.
    pub(crate) fn new(most: usize, in_all: usize) -> Self {
        Self { most, room: Arc::new(Semaphore::new(in_all.min(Semaphore::MAX_PERMITS))) }
    }

    /// Bytes of JSON.
    pub(crate) fn json(&self, answer: &impl Serialize) -> Result<Bytes, Failure> {
        let mut out = Buffer { bytes: Vec::new(), most: self.most, room: &self.room, taken: None };
        match serde_json::to_writer(&mut out, answer) {
            Ok(()) => Ok(out.finish()),
            Err(error) => Err(match error.io_error_kind() {
                Some(io::ErrorKind::FileTooLarge) => {
                    let message = format!("the answer is larger than {} bytes", self.most);
                    Failure::new(Code::TooLarge, message).hint("ask for less at a time")
                }
                Some(_) => {
                    let message = "as many bytes of answers wait for their clients as may";
                    Failure::new(Code::Busy, message).hint("try again in a second")
                }
                None => Failure::new(Code::Internal, error.to_string()),
            }),
        }
    }
}

/// Bytes, and the room that they take until they are dropped.
struct Held {
    bytes: Vec<u8>,
    _room: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Bytes that grow while there is room.
struct Buffer<'a> {
    bytes: Vec<u8>,
    most: usize,
    room: &'a Arc<Semaphore>,
    /// As much as the capacity.
    taken: Option<OwnedSemaphorePermit>,
}

impl Buffer<'_> {
    fn grow(&mut self, length: usize) -> io::Result<()> {
        let old = self.bytes.capacity();
        let new = length.max(BYTES_MIN).max((old + old / 2).min(self.most));
        let more = u32::try_from(new - old).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let more = Arc::clone(self.room).try_acquire_many_owned(more);
        let more = more.map_err(|_| io::ErrorKind::OutOfMemory)?;
        match &mut self.taken {
            Some(taken) => taken.merge(more),
            None => self.taken = Some(more),
        }
        self.bytes.reserve_exact(new - self.bytes.len());
        Ok(())
    }

    fn finish(mut self) -> Bytes {
        self.bytes.shrink_to_fit();
        if let Some(taken) = &mut self.taken {
            let spare = taken.num_permits().saturating_sub(self.bytes.len());
            drop(taken.split(spare));
        }
        Bytes::from_owner(Held { bytes: self.bytes, _room: self.taken })
    }
}

impl io::Write for Buffer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.bytes.len() + bytes.len();
        if length > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if length > self.bytes.capacity() {
            self.grow(length)?;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_until_they_are_dropped() {
        let answers = Answers::new(1000, 2500);
        let text = "x".repeat(998);
        let held: Vec<Bytes> = (0..2).map(|_| answers.json(&text).unwrap()).collect();
        assert_eq!(answers.room.available_permits(), 500);
        assert_eq!(answers.json(&text).unwrap_err().code, Code::Busy);
        assert_eq!(answers.json(&"x".repeat(1000)).unwrap_err().code, Code::TooLarge);
        let part = held[0].slice(10..20);
        drop(held);
        // A part holds the whole.
        assert_eq!(answers.room.available_permits(), 1500);
        drop(part);
        let many: Vec<u64> = (0..200).collect();
        let answer = answers.json(&many).unwrap();
        assert_eq!(answers.room.available_permits(), 2500 - answer.len());
        drop(answer);
        assert_eq!(answers.room.available_permits(), 2500);
    }
}
