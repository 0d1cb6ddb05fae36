//! From a file to its text: unpacked, counted, and without a byte order mark.
//!
//! A file that begins like gzip or zip is unpacked, whatever its name; one whose name promises it must be. A zip
//! file holds one file.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder};

use super::source::{ReadSeek, Source};
use crate::error::LoadError;

pub(super) const BUFFER_BYTES: usize = 256 * 1024;
pub(super) const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
pub(super) const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// A file's text.
pub(super) type Text = Box<dyn Read + Send>;

/// Opens a file; `bytes_read` is counted up by its packed bytes as they are read.
///
/// # Errors
/// It cannot be read, is empty, or is not what its name promises.
pub(super) fn open(
    source: &dyn Source,
    path: &Path,
    bytes_read: &Arc<AtomicU64>,
) -> Result<Text, LoadError> {
    let cannot_read = |error: io::Error| LoadError::file(path, describe(&error));
    let file = source.open(path).map_err(|error| LoadError::file(path, cannot_open(&error)))?;
    let counted = Counted { inner: file, bytes_read: Arc::clone(bytes_read) };
    let (start, whole) = peek(Box::new(counted), ZIP_MAGIC.len()).map_err(cannot_read)?;
    if start.is_empty() {
        return Err(LoadError::file(path, "it is empty; leave it out, or check how it was made"));
    }
    let promised = |name: &str| path.extension().is_some_and(|found| found == name);
    let text: Text = if start.starts_with(GZIP_MAGIC) {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER_BYTES, whole)))
    } else if start == ZIP_MAGIC {
        open_zip(source, path, bytes_read)?
    } else if start.starts_with(b"PAR1") || start.starts_with(b"ARRO") {
        let reason = "it is a Parquet or Arrow file, which this build cannot read; \
                      build it with the feature `columnar`";
        return Err(LoadError::file(path, reason));
    } else if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") {
        let reason = "it is UTF-16; convert it: iconv -f UTF-16 -t UTF-8";
        return Err(LoadError::file(path, reason));
    } else if promised("gz") {
        return Err(LoadError::file(path, "its name ends in .gz, but it is not a gzip file"));
    } else if promised("zip") {
        return Err(LoadError::file(path, "its name ends in .zip, but it is not a zip file"));
    } else {
        whole
    };
    let (start, mut text) = peek(text, BYTE_ORDER_MARK.len()).map_err(cannot_read)?;
    if start == BYTE_ORDER_MARK {
        text.read_exact(&mut [0; BYTE_ORDER_MARK.len()]).map_err(cannot_read)?;
    }
    Ok(text)
}

/// A read error for a person.
pub(super) fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            "the compressed file ends too early; was it copied whole?".into()
        }
        _ => format!("cannot read on: {error}"),
    }
}

fn cannot_open(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file; is the path right?".into(),
        io::ErrorKind::IsADirectory => {
            "it is a directory; name the files in it, as in 'folder/*.csv'".into()
        }
        _ => format!("cannot open it: {error}"),
    }
}

/// The one file in a zip file.
fn open_zip(
    source: &dyn Source,
    path: &Path,
    bytes_read: &Arc<AtomicU64>,
) -> Result<Text, LoadError> {
    let wrong = |reason: String| LoadError::file(path, reason);
    let file = source.open_seek(path).map_err(|error| {
        wrong(format!("a zip file is read from its end, and it cannot: {error}"))
    })?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| {
        wrong(format!("the zip file is damaged: {error}; was it copied whole?"))
    })?;
    let names: Vec<String> = archive.file_names().map(str::to_owned).collect();
    // Some systems put notes of their own beside the files.
    let is_file = |name: &&String| !name.ends_with('/') && !name.starts_with("__MACOSX/");
    let files: Vec<_> = names.iter().filter(is_file).collect();
    let [name] = files[..] else {
        let count = files.len();
        return Err(wrong(format!("the zip file holds {count} files; pack one file into each")));
    };
    let index = archive.index_for_name(name).unwrap_or(0);
    let entry = archive
        .by_index_raw(index)
        .map_err(|error| wrong(format!("cannot read {name} in the zip file: {error}")))?;
    if entry.encrypted() {
        return Err(wrong("the zip file is encrypted; unpack it first".into()));
    }
    let method = entry.compression();
    let (start, packed) = (entry.data_start(), entry.compressed_size());
    let (size, sum) = (entry.size(), entry.crc32());
    drop(entry);
    let mut file: Box<dyn ReadSeek> = archive.into_inner();
    file.seek(SeekFrom::Start(start)).map_err(|error| wrong(describe(&error)))?;
    let counted = Counted { inner: file.take(packed), bytes_read: Arc::clone(bytes_read) };
    let text: Text = match method {
        zip::CompressionMethod::Stored => Box::new(counted),
        zip::CompressionMethod::DEFLATE => {
            Box::new(DeflateDecoder::new(BufReader::with_capacity(BUFFER_BYTES, counted)))
        }
        other => return Err(wrong(format!("the zip file is packed by {other}; use deflate"))),
    };
    Ok(Box::new(Checked { inner: text, sum: flate2::Crc::new(), wanted: (size, sum) }))
}

/// The first `count` bytes, fewer only at the end, and a reader that still begins with them.
fn peek(mut reader: Text, count: usize) -> io::Result<(Vec<u8>, Text)> {
    let mut start = Vec::with_capacity(count);
    reader.by_ref().take(count as u64).read_to_end(&mut start)?;
    let whole = Box::new(io::Cursor::new(start.clone()).chain(reader));
    Ok((start, whole))
}

/// Counts the bytes that pass, as the measure of progress.
struct Counted<R> {
    inner: R,
    bytes_read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        // A number for a progress bar: nothing is ordered by it.
        self.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Holds what was unpacked against the length and checksum it should have.
struct Checked {
    inner: Text,
    sum: flate2::Crc,
    wanted: (u64, u32),
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.sum.update(&buffer[..count]);
        let (size, sum) = self.wanted;
        // The checksum's counter has 32 bits.
        let same_size = u64::from(self.sum.amount()) == size & u64::from(u32::MAX);
        if count == 0 && !buffer.is_empty() && (!same_size || self.sum.sum() != sum) {
            return Err(io::Error::other("the zip file is damaged: its checksum is wrong"));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Write;
    use std::path::PathBuf;

    use super::*;

    struct Memory(BTreeMap<PathBuf, Vec<u8>>);

    impl Source for Memory {
        fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
            Ok(Box::new(self.open_seek(path)?))
        }

        fn open_seek(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
            let bytes = self.0.get(path).ok_or(io::ErrorKind::NotFound)?;
            Ok(Box::new(io::Cursor::new(bytes.clone())))
        }

        fn len(&self, path: &Path) -> Option<u64> {
            self.0.get(path).map(|bytes| bytes.len() as u64)
        }
    }

    fn read(path: &str, bytes: Vec<u8>) -> Result<String, String> {
        let path = PathBuf::from(path);
        let source = Memory([(path.clone(), bytes.clone())].into());
        let counter = Arc::default();
        let text = open(&source, &path, &counter).map_err(|error| error.to_string())?;
        let text = io::read_to_string(text).map_err(|error| describe(&error))?;
        if !bytes.starts_with(ZIP_MAGIC) {
            assert_eq!(counter.load(Ordering::Relaxed), bytes.len() as u64);
        }
        Ok(text)
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn zip(files: &[(&str, &str)], method: zip::CompressionMethod) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        for (name, text) in files {
            writer.start_file(*name, options).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn text_comes_unpacked_and_without_its_mark() {
        let text = "a,b\n".repeat(200_000);
        let marked = format!("\u{feff}{text}");
        assert_eq!(read("a.csv", marked.clone().into()).unwrap(), text);
        assert_eq!(read("a.csv.gz", gzip(&marked)).unwrap(), text);
        assert_eq!(read("a", [gzip(&marked), gzip("tail")].concat()).unwrap(), text + "tail");
        let stored =
            zip(&[("a.csv", "\u{feff}x"), ("__MACOSX/a", "y")], zip::CompressionMethod::Stored);
        assert_eq!(read("a.zip", stored).unwrap(), "x");
        assert_eq!(read("short", b"x".to_vec()).unwrap(), "x");
    }

    #[test]
    fn damage_is_found() {
        let text = (0..100_000).map(|n| n.to_string()).collect::<String>();
        let mut cut = gzip(&text);
        cut.truncate(cut.len() - 10);
        assert!(read("a.gz", cut).unwrap_err().contains("was it copied whole"));
        assert!(read("a.gz", b"abcdef".to_vec()).unwrap_err().contains("not a gzip file"));
        assert!(read("a.zip", b"abcdef".to_vec()).unwrap_err().contains("not a zip file"));
        assert!(read("a.csv", Vec::new()).unwrap_err().contains("it is empty"));
        let good = zip(&[("a", &text)], zip::CompressionMethod::Stored);
        assert_eq!(read("a.zip", good.clone()).unwrap(), text);
        let mut wrong = good.clone();
        wrong[5_000] ^= 1;
        assert!(read("a.zip", wrong).unwrap_err().contains("checksum"));
        let short = good[..good.len() / 2].to_vec();
        assert!(read("a.zip", short).unwrap_err().contains("was it copied whole"));
        let two = zip(&[("a", "1"), ("b", "2")], zip::CompressionMethod::Stored);
        assert!(read("a.zip", two).unwrap_err().contains("holds 2 files"));
    }
}
