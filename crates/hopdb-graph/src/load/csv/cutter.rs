//! Where rows end, over text that comes in blocks.
//!
//! States, before a byte:
//! - `FieldStart`: a quote opens a quoted field here and nowhere else.
//! - `InField`: outside quotes.
//! - `Quoted`: inside quotes.
//! - `Escaped`: inside quotes, and the byte is plain.
//! - `BehindQuote`: behind a quote inside quotes. A second one is a plain quote; anything else means
//!   that the first one has closed.
//!
//! Transitions are taken only at quotes and escapes; what lies between is skipped. Outside quotes
//! the byte before a quote tells whether it opens a field, so no other byte need be looked at.
//!
//! Invariant: the state after a text is the same however the text was split into blocks.

use std::ops::Range;

use memchr::{memchr, memchr2, memrchr};

use super::Dialect;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    FieldStart,
    InField,
    Quoted,
    Escaped,
    BehindQuote,
}

/// Finds row ends; begins at the beginning of a row.
#[derive(Debug)]
pub(super) struct Cutter {
    dialect: Dialect,
    state: State,
}

impl Cutter {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self { dialect, state: State::FieldStart }
    }

    /// Whether a text that ends here lacks a closing quote.
    pub(super) fn inside_quotes(&self) -> bool {
        matches!(self.state, State::Quoted | State::Escaped)
    }

    /// Goes over `block` and gives the offset behind its last row end.
    pub(super) fn last_row_end(&mut self, block: &[u8]) -> Option<usize> {
        if !self.dialect.multiline() {
            let end = memrchr(b'\n', block).map(|newline| newline + 1);
            self.enter_line(end);
            self.skip(&block[end.unwrap_or(0)..]);
            return end;
        }
        let mut at = 0;
        let mut end = None;
        while at < block.len() {
            let (outside, next) = self.step(block, at);
            let start = outside.start;
            end = last_newline(&block[outside]).map(|newline| start + newline + 1).or(end);
            at = next;
        }
        end
    }

    /// Goes over `block` to behind its first row end, and gives the offset; over all of it when it
    /// has none.
    pub(super) fn first_row_end(&mut self, block: &[u8]) -> Option<usize> {
        if !self.dialect.multiline() {
            let end = memchr(b'\n', block).map(|newline| newline + 1);
            self.enter_line(end);
            if end.is_none() {
                self.skip(block);
            }
            return end;
        }
        let mut at = 0;
        while at < block.len() {
            let (outside, next) = self.step(block, at);
            let start = outside.start;
            if let Some(newline) = memchr(b'\n', &block[outside]) {
                self.state = State::FieldStart;
                return Some(start + newline + 1);
            }
            at = next;
        }
        None
    }

    /// In a dialect without quoted newlines, a line's begin is a row's begin.
    fn enter_line(&mut self, end: Option<usize>) {
        if end.is_some() {
            self.state = State::FieldStart;
        }
    }

    fn skip(&mut self, block: &[u8]) {
        let mut at = 0;
        while at < block.len() {
            (_, at) = self.step(block, at);
        }
    }

    /// Goes over one stretch: either inside quotes, which gives nothing, or outside quotes, up to
    /// and with a quote that opens a field. Gives what is outside quotes and where to go on.
    fn step(&mut self, block: &[u8], at: usize) -> (Range<usize>, usize) {
        if !matches!(self.state, State::FieldStart | State::InField) {
            return (at..at, self.skip_quoted(block, at));
        }
        let mut from = at;
        while let Some(found) = memchr(self.dialect.quote(), &block[from..]) {
            let quote = from + found;
            if quote > at {
                self.state = self.behind(block[quote - 1]);
            }
            from = quote + 1;
            if self.state == State::FieldStart {
                self.state = State::Quoted;
                return (at..quote, from);
            }
        }
        self.state = self.behind(block[block.len() - 1]);
        (at..block.len(), block.len())
    }

    /// The state outside quotes behind `byte`.
    fn behind(&self, byte: u8) -> State {
        if byte == self.dialect.delimiter() || byte == b'\n' {
            State::FieldStart
        } else {
            State::InField
        }
    }

    /// Goes to behind the closing quote, or to the end of `block`.
    fn skip_quoted(&mut self, block: &[u8], mut at: usize) -> usize {
        let quote = self.dialect.quote();
        let escape = self.dialect.escape().unwrap_or(quote);
        while at < block.len() {
            match self.state {
                State::Quoted => {
                    let Some(found) = memchr2(quote, escape, &block[at..]) else {
                        return block.len();
                    };
                    at += found + 1;
                    let closes = block[at - 1] == quote;
                    self.state = if closes { State::BehindQuote } else { State::Escaped };
                }
                State::BehindQuote if block[at] != quote => {
                    self.state = State::InField;
                    return at;
                }
                State::BehindQuote | State::Escaped => {
                    self.state = State::Quoted;
                    at += 1;
                }
                State::FieldStart | State::InField => return at,
            }
        }
        at
    }
}

/// Most stretches between quoted fields are one delimiter.
#[inline]
fn last_newline(outside: &[u8]) -> Option<usize> {
    const SHORT: usize = 8;
    if outside.len() < SHORT {
        outside.iter().rposition(|&byte| byte == b'\n')
    } else {
        memrchr(b'\n', outside)
    }
}
