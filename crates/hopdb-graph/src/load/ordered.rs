//! Work on several threads, taken in and handed out in order.
//!
//! One thread makes the pieces, others work on them, and the calling thread takes the results in the order of the
//! pieces: whoever consumes sees nothing of the threads, so that the same input always gives the same outcome, the
//! first error included. [`Load`] says how much may be under way at a time, which bounds the memory: beside it, one
//! piece is being made.
//!
//! When the consumer stops, no further piece is worked on but those that are under way.
#![expect(clippy::disallowed_methods, reason = "a load owns its threads and ends them")]

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// Threads that the machine can run at a time.
pub(super) fn cores() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// What may be under way at a time. A piece that is too heavy goes alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) pieces_max: usize,
    pub(super) bytes_max: usize,
}

impl Load {
    /// Enough pieces for all cores, of so many bytes together.
    pub(super) fn of_bytes(bytes_max: usize) -> Self {
        Self { pieces_max: 2 * cores() + 2, bytes_max }
    }
}

/// A piece, or the result of one, with its place in the order.
struct Numbered<T> {
    number: u64,
    bytes: usize,
    /// None: the thread that worked on it panicked.
    item: Option<T>,
}

/// Counts what is under way, and makes whoever makes more wait.
struct Gate {
    load: Load,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    pieces: usize,
    bytes: usize,
    is_closed: bool,
}

impl Gate {
    /// Waits until a piece may go; false when nobody wants it any more.
    fn enter(&self, bytes: usize) -> bool {
        let Load { pieces_max, bytes_max } = self.load;
        let is_full = |state: &mut State| {
            let heavy = state.bytes + bytes > bytes_max;
            !state.is_closed && state.pieces > 0 && (state.pieces >= pieces_max || heavy)
        };
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.changed.wait_while(state, is_full);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.pieces += 1;
        state.bytes += bytes;
        !state.is_closed
    }

    fn leave(&self, bytes: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.pieces -= 1;
        state.bytes -= bytes;
        self.changed.notify_one();
    }

    fn close(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
        self.changed.notify_one();
    }
}

/// Closes the gate when it goes, whatever ends the consumer.
struct Closing<'g>(&'g Gate);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Makes pieces, weighs them in bytes, works on them, and consumes the results in order.
///
/// # Errors
/// The first of `produce`, in the order of its pieces, or of `consume`.
pub(super) fn ordered<A: Send, B: Send, E: Send>(
    load: Load,
    mut produce: impl FnMut() -> Result<Option<(A, usize)>, E> + Send,
    work: impl Fn(A) -> B + Sync,
    consume: impl FnMut(B) -> Result<(), E>,
) -> Result<(), E> {
    let gate = Gate { load, state: Mutex::default(), changed: Condvar::new() };
    let (pieces, queue) = channel();
    let queue = Mutex::new(queue);
    let (results, done) = channel();
    let (gate, queue, work) = (&gate, &queue, &work);
    thread::scope(move |scope| {
        scope.spawn(move || make(&mut produce, gate, &pieces));
        for _ in 0..cores() {
            let results = results.clone();
            scope.spawn(move || work_on(queue, work, &results));
        }
        drop(results);
        let _closing = Closing(gate);
        take(&done, gate, consume)
    })
}

/// Runs `other` on a thread of its own beside `here`.
pub(super) fn beside<A: Send, B>(
    other: impl FnOnce() -> A + Send,
    here: impl FnOnce() -> B,
) -> (A, B) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let here = here();
        match other.join() {
            Ok(other) => (other, here),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn make<A, E>(
    produce: &mut impl FnMut() -> Result<Option<(A, usize)>, E>,
    gate: &Gate,
    pieces: &Sender<Numbered<Result<A, E>>>,
) {
    let mut number = 0;
    while let Some(made) = produce().transpose() {
        let last = made.is_err();
        let (item, bytes) = match made {
            Ok((piece, bytes)) => (Ok(piece), bytes),
            Err(error) => (Err(error), 0),
        };
        let wanted = gate.enter(bytes);
        let sent = wanted && pieces.send(Numbered { number, bytes, item: Some(item) }).is_ok();
        if !sent || last {
            break;
        }
        number += 1;
    }
}

fn work_on<A, B, E>(
    queue: &Mutex<Receiver<Numbered<Result<A, E>>>>,
    work: &impl Fn(A) -> B,
    results: &Sender<Numbered<Result<B, E>>>,
) {
    loop {
        let piece = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Numbered { number, bytes, item: Some(item) }) = piece else { return };
        let mut report = Report { results, number, bytes, item: None };
        report.item = Some(item.map(work));
    }
}

/// Sends a result when it goes, so that the consumer hears of a panic too.
struct Report<'r, T> {
    results: &'r Sender<Numbered<T>>,
    number: u64,
    bytes: usize,
    item: Option<T>,
}

impl<T> Drop for Report<'_, T> {
    fn drop(&mut self) {
        // Nobody listens any more when the consumer has stopped.
        let Self { number, bytes, .. } = *self;
        drop(self.results.send(Numbered { number, bytes, item: self.item.take() }));
    }
}

fn take<B, E>(
    done: &Receiver<Numbered<Result<B, E>>>,
    gate: &Gate,
    mut consume: impl FnMut(B) -> Result<(), E>,
) -> Result<(), E> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    while let Ok(Numbered { number, bytes, item }) = done.recv() {
        early.insert(number, (item.expect("a thread of the load panicked"), bytes));
        while let Some((item, bytes)) = early.remove(&next) {
            next += 1;
            consume(item?)?;
            gate.leave(bytes);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;

    const LOAD: Load = Load { pieces_max: 5, bytes_max: 20 };

    #[test]
    fn results_come_in_order_and_little_is_under_way() {
        let (pieces, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut numbers = 0..1_000_usize;
        let mut seen = Vec::new();
        let outcome: Result<(), ()> = ordered(
            LOAD,
            || {
                // Weights from nothing to more than may be under way.
                let Some(number) = numbers.next() else { return Ok(None) };
                let weight = number % 30;
                // The piece that is being made is not under way yet, and may wait.
                assert!(pieces.fetch_add(1, SeqCst) <= LOAD.pieces_max);
                let others = bytes.fetch_add(weight, SeqCst);
                assert!(others <= LOAD.bytes_max.max(29) + 29, "{others} bytes");
                Ok(Some((number, weight)))
            },
            |number| {
                // Some take longer than others.
                (0..number % 7 * 1_000).fold(number, |sum, n| std::hint::black_box(sum ^ n ^ n))
            },
            |number| {
                pieces.fetch_sub(1, SeqCst);
                bytes.fetch_sub(number % 30, SeqCst);
                seen.push(number);
                Ok(())
            },
        );
        assert_eq!(outcome, Ok(()));
        assert_eq!(seen, (0..1_000).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_error_in_order_is_the_outcome() {
        for wrong in 0..40_u64 {
            let mut number = 0;
            let made = ordered(
                LOAD,
                || {
                    number += 1;
                    if number > wrong { Err(number) } else { Ok(Some((number, 1))) }
                },
                |number| number,
                |_| Ok(()),
            );
            assert_eq!(made, Err(wrong + 1));
            let mut numbers = 0..10_000;
            let consumed = ordered(
                LOAD,
                || Ok(numbers.next().map(|number| (number, 7))),
                |number| number,
                |number| if number == wrong { Err(number) } else { Ok(()) },
            );
            assert_eq!(consumed, Err(wrong));
        }
    }

    #[test]
    #[should_panic(expected = "panicked")]
    fn a_panic_is_passed_on() {
        let mut numbers = 0..10_000;
        let _never: Result<(), ()> = ordered(
            LOAD,
            || Ok(numbers.next().map(|number| (number, 1))),
            |number| assert!(number != 50, "a worker panicked"),
            |()| Ok(()),
        );
    }
}
