//! Parquet and Arrow files as rows of values for HopDB, and Parquet files of such rows.
//!
//! A crate of its own because decoding the formats takes more code than the database: only who asks
//! for it compiles it. It knows the loader by its traits alone, and nothing of graphs.
//!
//! Modules: `table` opens files and cuts them into rows; `columns` says what the columns hold;
//! `cells` and `temporal` turn arrays into values; `write` does the reverse.
//!
//! | Arrow | HopDB |
//! |---|---|
//! | `Null` | null |
//! | `Boolean` | Boolean |
//! | `Int8` to `Int64`, `UInt8` to `UInt64`, decimals without a fraction | Integer; a row with one beyond 64 bits is bad |
//! | `Float16`, `Float32`, `Float64` | Float, exactly |
//! | other decimals | String of their digits, as nothing else holds them exactly; a column named `price:double` says that the nearest float will do |
//! | `Utf8`, `LargeUtf8`, `Utf8View` | String |
//! | `Binary`, `LargeBinary`, `BinaryView`, `FixedSizeBinary` | Bytes |
//! | `Date32`, `Date64` | Date |
//! | `Timestamp` with a zone | `DateTime`: at that offset, or in UTC when the zone is a name |
//! | `Timestamp` without a zone | `LocalDateTime` |
//! | `Time32`, `Time64` | `LocalTime` |
//! | `Duration`, `Interval` | `Duration` |
//! | dictionaries | what their values are |
//! | `List`, `LargeList`, `FixedSizeList` of all these | List |
//!
//! Structs, maps, unions, lists in lists and the rarer encodings are refused when the file is
//! opened, unless the column's name ends in `:IGNORE`: such a column is not read at all.
#![expect(clippy::disallowed_methods, reason = "files of the user, not the database's own")]

mod cells;
mod columns;
mod table;
mod temporal;
mod write;

pub use table::Columnar;
pub use write::{WriteError, fits, write_parquet};
