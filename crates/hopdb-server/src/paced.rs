//! A connection whose client must take what is sent to it at a least rate.
//!
//! Invariant: a client has credit, in time. While bytes wait for it the credit shrinks, by the time that they wait; each
//! byte that it takes gives some back, as long as a byte takes at the least rate, up to what it began with. Without
//! credit the connection fails. So whoever takes nothing, or one byte now and then, ends after a time that has a limit,
//! and whoever keeps to the rate never does.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

use crate::limits::Limits;

/// The connection.
pub(crate) struct Paced {
    stream: TcpStream,
    credit: Credit,
    /// Since when bytes wait.
    waiting: Option<Instant>,
    /// When the credit is used up, while bytes wait.
    end: Pin<Box<Sleep>>,
}

impl Paced {
    pub(crate) fn new(stream: TcpStream, limits: &Limits) -> Self {
        let credit = Credit::new(limits.write_wait, limits.write_bytes_per_second_min);
        Self { stream, credit, waiting: None, end: Box::pin(sleep(Duration::ZERO)) }
    }

    fn written(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                let waited = self.waiting.take().map(|since| since.elapsed());
                self.credit.taken(bytes, waited.unwrap_or_default());
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(failed) => Poll::Ready(failed),
            Poll::Pending => {
                if self.waiting.is_none() {
                    let now = Instant::now();
                    self.waiting = Some(now);
                    self.end.as_mut().reset(now + self.credit.left);
                }
                let ended = self.end.as_mut().poll(context);
                ended.map(|()| Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

/// How long a client may still keep bytes waiting.
struct Credit {
    left: Duration,
    most: Duration,
    bytes_per_second: u64,
}

impl Credit {
    fn new(most: Duration, bytes_per_second: u64) -> Self {
        Self { left: most, most, bytes_per_second: bytes_per_second.max(1) }
    }

    /// The client took bytes, which had waited for so long.
    fn taken(&mut self, bytes: usize, waited: Duration) {
        let nanos = u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(1_000_000_000);
        let earned = Duration::from_nanos(nanos / self.bytes_per_second);
        self.left = self.left.saturating_sub(waited).saturating_add(earned).min(self.most);
    }
}

impl AsyncRead for Paced {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, bytes)
    }
}

impl AsyncWrite for Paced {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_now_and_then_use_the_credit_up() {
        let second = Duration::from_secs(1);
        let mut credit = Credit::new(30 * second, 1000);
        // At the rate, it lasts.
        (0..100).for_each(|_| credit.taken(1000, second));
        assert_eq!(credit.left, 30 * second);
        // At half of it, it shrinks.
        (0..10).for_each(|_| credit.taken(500, second));
        assert_eq!(credit.left, 25 * second);
        (0..24).for_each(|_| credit.taken(1, second));
        assert!(credit.left < 2 * second);
        // It is never more than at first.
        credit.taken(1_000_000, Duration::ZERO);
        assert_eq!(credit.left, 30 * second);
    }
}
