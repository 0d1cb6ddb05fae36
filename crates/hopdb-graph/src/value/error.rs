//! Why a text is no value: the reason alone, as a sentence goes on after "is not a date: ".

use std::fmt;

/// Why a text is no value of the type it was read as.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct TextError {
    reason: String,
}

impl TextError {
    pub(crate) fn new(reason: impl fmt::Display) -> Self {
        Self { reason: reason.to_string() }
    }
}
