//! Every exception to the house rules, with its reason: the one place to look, and to argue.
//!
//! The lists are exact. A long file that shrank, a file without unsafe code, or an excused word
//! that is gone makes `cargo xtask tidy` fail until its line here goes too.

/// A file that one rule excuses.
pub(super) struct Listed {
    /// From the root of the checkout, with `/`.
    pub(super) path: &'static str,
    /// Why the rule gives way.
    pub(super) reason: &'static str,
}

/// A word that one file may use.
pub(super) struct WordException {
    /// From the root of the checkout, with `/`.
    pub(super) path: &'static str,
    /// The rule's name in `words::RULES`, or [`ANY_WORD`].
    pub(super) word: &'static str,
    /// Why the rule gives way.
    pub(super) reason: &'static str,
}

/// Excuses every word of a file.
pub(super) const ANY_WORD: &str = "any word";

/// What the checks excuse.
pub(super) struct Exceptions {
    /// The ratchet: files over 500 lines without tests. New ones should be split instead.
    pub(super) long_files: &'static [Listed],
    /// Files that may hold unsafe code; everywhere else the word itself is a finding.
    pub(super) unsafe_files: &'static [Listed],
    /// Words of other people that cannot be replaced by ours.
    pub(super) words: &'static [WordException],
}

/// The exceptions of this repository.
pub(super) const EXCEPTIONS: Exceptions = Exceptions {
    long_files: &[],
    unsafe_files: &[Listed {
        path: "crates/hopdb-bench-peers/src/commit/lmdb.rs",
        reason: "opening LMDB is unsafe in its binding",
    }],
    words: &[WordException {
        path: "xtask/src/tidy/words.rs",
        word: ANY_WORD,
        reason: "the list of the words, and its tests",
    }],
};

/// No exceptions: for the tests of the checks.
#[cfg(test)]
pub(super) const NONE: Exceptions = Exceptions { long_files: &[], unsafe_files: &[], words: &[] };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exception_says_why() {
        let listed = EXCEPTIONS.long_files.iter().chain(EXCEPTIONS.unsafe_files);
        let reasons = listed.map(|file| (file.path, file.reason));
        let words = EXCEPTIONS.words.iter().map(|word| (word.path, word.reason));
        for (path, reason) in reasons.chain(words) {
            assert!(reason.len() > 10, "{path} needs a reason");
        }
    }
}
