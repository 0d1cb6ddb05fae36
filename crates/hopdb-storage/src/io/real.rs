//! The operating system as a [`super::FileSystem`].
