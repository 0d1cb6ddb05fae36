//! Work on several threads, taken in and handed out in order.
//!
//! One thread makes the pieces, others work on them, and the calling thread takes the results in the order of the
//! pieces: whoever consumes sees nothing of the threads, so that the same input always gives the same outcome, the
//! first error included. At most [`pieces_max`] pieces are under way at a time, which bounds the memory.
//!
//! When the consumer stops, the others stop at their next piece.
#![expect(clippy::disallowed_methods, reason = "a load owns its threads and ends them")]

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Threads that the machine can run at a time.
pub(super) fn cores() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Pieces under way at a time.
pub(super) fn pieces_max() -> usize {
    2 * cores() + 2
}

/// A piece, or the result of one, with its place in the order.
struct Numbered<T> {
    number: u64,
    /// None: the thread that worked on it panicked.
    item: Option<T>,
}

/// Makes pieces, works on them, and consumes the results in order.
///
/// # Errors
/// The first of `produce`, in the order of its pieces, or of `consume`.
pub(super) fn ordered<A: Send, B: Send, E: Send>(
    produce: impl FnMut() -> Result<Option<A>, E> + Send,
    work: impl Fn(A) -> B + Sync,
    consume: impl FnMut(B) -> Result<(), E>,
) -> Result<(), E> {
    let (start, allowed) = sync_channel(pieces_max());
    for () in std::iter::repeat_n((), pieces_max()) {
        start.send(()).expect("the channel is as long");
    }
    let (pieces, queue) = channel();
    let queue = Mutex::new(queue);
    let (results, done) = channel();
    let (queue, work) = (&queue, &work);
    thread::scope(move |scope| {
        scope.spawn(move || make(produce, &allowed, &pieces));
        for _ in 0..cores() {
            let results = results.clone();
            scope.spawn(move || work_on(queue, work, &results));
        }
        drop(results);
        // Both channels end with this call, which ends the threads.
        take(done, start, consume)
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
    mut produce: impl FnMut() -> Result<Option<A>, E>,
    allowed: &Receiver<()>,
    pieces: &Sender<Numbered<Result<A, E>>>,
) {
    let mut number = 0;
    while allowed.recv().is_ok() {
        let Some(piece) = produce().transpose() else { break };
        let last = piece.is_err();
        if pieces.send(Numbered { number, item: Some(piece) }).is_err() || last {
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
        let Ok(Numbered { number, item: Some(item) }) = piece else { return };
        let mut report = Report { results, number, item: None };
        report.item = Some(item.map(work));
    }
}

/// Sends a result when it goes, so that the consumer hears of a panic too.
struct Report<'r, T> {
    results: &'r Sender<Numbered<T>>,
    number: u64,
    item: Option<T>,
}

impl<T> Drop for Report<'_, T> {
    fn drop(&mut self) {
        // Nobody listens any more when the consumer has stopped.
        drop(self.results.send(Numbered { number: self.number, item: self.item.take() }));
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the channels end here")]
fn take<B, E>(
    done: Receiver<Numbered<Result<B, E>>>,
    start: SyncSender<()>,
    mut consume: impl FnMut(B) -> Result<(), E>,
) -> Result<(), E> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    while let Ok(Numbered { number, item }) = done.recv() {
        early.insert(number, item.expect("a thread of the load panicked"));
        while let Some(item) = early.remove(&next) {
            next += 1;
            consume(item?)?;
            // The maker is gone when there is nothing left to make.
            let _nobody = start.try_send(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_few_are_under_way() {
        let under_way = std::sync::atomic::AtomicUsize::new(0);
        let mut numbers = 0..1_000_u64;
        let mut seen = Vec::new();
        let outcome: Result<(), ()> = ordered(
            || {
                let more = under_way.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                assert!(more < pieces_max());
                Ok(numbers.next())
            },
            |number| {
                // Some take longer than others.
                (0..number % 7 * 1_000).fold(number, |sum, n| std::hint::black_box(sum ^ n ^ n))
            },
            |number| {
                under_way.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
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
                || {
                    number += 1;
                    if number > wrong { Err(number) } else { Ok(Some(number)) }
                },
                |number| number,
                |_| Ok(()),
            );
            assert_eq!(made, Err(wrong + 1));
            let mut numbers = 0..10_000;
            let consumed = ordered(
                || Ok(numbers.next()),
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
            || Ok(numbers.next()),
            |number| assert!(number != 50, "a worker panicked"),
            |()| Ok(()),
        );
    }
}
