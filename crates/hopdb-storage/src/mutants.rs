//! Defects on purpose, one at a time, to see that the tests would find them: `cargo xtask mutants`.
//!
//! Only with the feature `mutants`, which nothing but that command turns on; otherwise `Mutant::is_on` is `false` when
//! the crate is compiled, and nothing of this is left.
//!
//! Invariant: with no mutant chosen the engine is the one without the feature.

macro_rules! mutants {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A rule of the engine that is broken while the mutant is on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Mutant {
            $($(#[$doc])* $name,)*
        }

        impl Mutant {
            /// All of them, and what each does.
            pub const ALL: &[(Self, &str)] = &[$((Self::$name, stringify!($name)),)*];
        }
    };
}

mutants! {
    /// The log is written and not synced.
    SkipLogSync,
    /// Parts of a batch that were written without a sync count as synced.
    ForgetUnsynced,
    /// A commit that is to wait returns before the log is synced.
    AcknowledgeBeforeSync,
    /// A commit that is to wait is seen by readers before it is durable.
    ShowBeforeSync,
    /// Pages are written in place without images.
    SkipImages,
    /// Images are not synced before the pages are written in place.
    SkipImageSync,
    /// Slots of the image area are used again before their pages are synced in place.
    ReuseImageSlots,
    /// Pages are written in place before the log of their changes is durable.
    WriteInPlaceBeforeLog,
    /// The redo point moves without a sync of the pages in place.
    SkipPlaceSync,
    /// The redo point moves without a sync of the log: pages that were freed meanwhile are nowhere.
    SkipLastLogSync,
    /// The header is not synced before the space of the log is used again.
    SkipHeaderSync,
    /// Born pages are not synced before the commit record.
    SkipBornSync,
    /// The name of a new log is not made durable.
    SkipLogNameSync,
    /// The name of a new database is not made durable.
    SkipNameSync,
    /// A failed write or sync does not stop the handle.
    NoPoison,
    /// Page ids are given out again while snapshots may read them.
    FreeTooEarly,
    /// Ids freed by a commit that is not durable are given out again.
    FreeBeforeDurable,
    /// Older versions go while snapshots need them.
    PurgeTooEarly,
    /// Records are taken for whole without a look at their checksums.
    IgnoreRecordChecksum,
    /// Pages are taken for whole without a look at their checksums.
    IgnorePageChecksum,
    /// A hole in the log below what was synced counts as a torn tail.
    NoHoleRule,
    /// The headers of a torn tail stay in the log.
    KeepTornTail,
    /// What is not known to be durable is not written again at recovery.
    TrustLogTail,
    /// Torn pages are not put in place again before the image area is used.
    SkipMending,
    /// Recovery applies changes of pages that were freed or born again later.
    IgnoreResets,
    /// Recovery takes records that a rollback took back.
    IgnoreRollback,
    /// A batch that fails after a part went out leaves no rollback.
    SkipRollbackRecord,
    /// Records go over those that recovery needs.
    OverwriteLog,
    /// Space for pages is not reserved before they are logged.
    SkipPageReserve,
    /// Space for the log is not reserved before records are appended.
    SkipLogReserve,
    /// A rollback to a savepoint leaves the pages as they are.
    KeepChangesOnRollback,
}

#[cfg(feature = "mutants")]
static CHOSEN: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(u8::MAX);

impl Mutant {
    /// Turns this one on, for the whole process.
    #[cfg(feature = "mutants")]
    pub fn choose(self) {
        CHOSEN.store(self as u8, std::sync::atomic::Ordering::Relaxed);
    }

    /// Whether it is on.
    #[cfg(feature = "mutants")]
    pub(crate) fn is_on(self) -> bool {
        CHOSEN.load(std::sync::atomic::Ordering::Relaxed) == self as u8
    }

    /// Whether it is on: never, in this build.
    #[cfg(not(feature = "mutants"))]
    #[inline(always)]
    pub(crate) const fn is_on(self) -> bool {
        false
    }
}
