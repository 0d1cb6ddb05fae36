//! Where rows end, over text that comes in blocks.
//!
//! States, before a byte:
//! - `FieldStart`: a quote opens a quoted field here and nowhere else.
//! - `InField`: outside quotes.
//! - `Quoted`: inside quotes.
//! - `Escaped`: inside quotes, and the byte is plain.
//! - `BehindQuote`: behind a quote inside quotes. A second one is a plain quote, and the field goes
//!   on; anything else means that the first one has closed.
//!
//! Only quotes, escapes and newlines are looked at. Whether a quote opens a field is seen from the
//! byte before it. A block without quotes, outside quotes, is searched for its last newline only.
//!
//! Invariant: the state after a text is the same however the text was split into blocks.

use memchr::{memchr, memrchr};

use super::Dialect;
use super::needles::{Needles, WORD_BYTES, first};

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
    /// Quote, escape, newline.
    needles: Needles<3>,
    state: State,
}

/// Which row end of a block is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    First,
    Last,
}

impl Cutter {
    pub(super) fn new(dialect: Dialect) -> Self {
        let quote = dialect.quote();
        let needles = Needles::new([quote, dialect.escape().unwrap_or(quote), b'\n']);
        Self { dialect, needles, state: State::FieldStart }
    }

    /// Whether a text that ends here lacks a closing quote.
    pub(super) fn inside_quotes(&self) -> bool {
        matches!(self.state, State::Quoted | State::Escaped)
    }

    /// Goes over `block` and gives the offset behind its last row end.
    pub(super) fn last_row_end(&mut self, block: &[u8]) -> Option<usize> {
        let outside = matches!(self.state, State::FieldStart | State::InField);
        if self.dialect.multiline() && !(outside && memchr(self.dialect.quote(), block).is_none()) {
            return self.walk(block, Wanted::Last);
        }
        let end = memrchr(b'\n', block).map(|newline| newline + 1);
        if end.is_some() {
            self.state = State::FieldStart;
        }
        // Behind the last newline there is none: this is for the state.
        self.walk(&block[end.unwrap_or(0)..], Wanted::Last);
        end
    }

    /// Goes over `block` to behind its first row end, and gives the offset; over all of it when it
    /// has none.
    pub(super) fn first_row_end(&mut self, block: &[u8]) -> Option<usize> {
        if !self.dialect.multiline()
            && let Some(newline) = memchr(b'\n', block)
        {
            self.state = State::FieldStart;
            return Some(newline + 1);
        }
        self.walk(block, Wanted::First)
    }

    fn walk(&mut self, block: &[u8], wanted: Wanted) -> Option<usize> {
        const NOWHERE: usize = usize::MAX;
        let quote = self.dialect.quote();
        let mut inside = self.inside_quotes();
        // Where a byte is plain behind an escape, and where a quote is behind another.
        let mut plain = if self.state == State::Escaped { 0 } else { NOWHERE };
        let mut second = if self.state == State::BehindQuote { 0 } else { NOWHERE };
        let mut end = None;
        let mut word = 0;
        while word < block.len() {
            let mut hits = self.needles.hits(block, word);
            while hits != 0 {
                let at = word + first(hits);
                hits &= hits - 1;
                let byte = block[at];
                if inside {
                    if at == plain {
                    } else if byte == quote {
                        inside = false;
                        second = at + 1;
                    } else if byte != b'\n' {
                        plain = at + 1;
                    }
                } else if byte == quote {
                    inside = at == second || self.opens(block, at);
                } else if byte == b'\n' {
                    end = Some(at + 1);
                    if wanted == Wanted::First {
                        self.state = State::FieldStart;
                        return end;
                    }
                }
            }
            word += WORD_BYTES;
        }
        if let Some(&last) = block.last() {
            self.state = match inside {
                true if plain == block.len() => State::Escaped,
                true => State::Quoted,
                false if second == block.len() => State::BehindQuote,
                false => self.behind(last),
            };
        }
        end
    }

    /// Whether a quote at `at`, outside quotes, opens a field.
    fn opens(&self, block: &[u8], at: usize) -> bool {
        let state = if at == 0 { self.state } else { self.behind(block[at - 1]) };
        state == State::FieldStart
    }

    /// The state outside quotes behind `byte`.
    fn behind(&self, byte: u8) -> State {
        if byte == self.dialect.delimiter() || byte == b'\n' {
            State::FieldStart
        } else {
            State::InField
        }
    }
}
