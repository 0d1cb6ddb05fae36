//! Values too large for a leaf: extents of pages, written past the log, read piece by piece.
//! Layout: `docs/file-format.md`, "Large values".

use super::PageSink;
use crate::buffer::PageSource;
use crate::codec::num::{to_u16, to_usize};
use crate::codec::varint;
use crate::error::Result;
use crate::page::{self, CommitTs, HEADER_LEN, PageId, PageKind, slotted};

/// Extents after which a value's pages come from the end of the file, one after another.
const SCATTERED_EXTENTS: usize = 32;

/// Where a large value lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    /// Bytes of the value.
    pub(crate) len: u64,
    /// First page and number of pages, in order.
    pub(crate) extents: Vec<(PageId, u64)>,
}

impl Descriptor {
    /// Reads a leaf's descriptor; `None` when it is not one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut at = 0;
        let len = varint::get(bytes, &mut at)?;
        let count = to_usize(varint::get(bytes, &mut at)?);
        if count > bytes.len() {
            return None;
        }
        let extent = |_| Some((PageId(varint::get(bytes, &mut at)?), varint::get(bytes, &mut at)?));
        let extents = (0..count).map(extent).collect::<Option<Vec<_>>>()?;
        let mut pages = 0u64;
        for (first, count) in &extents {
            first.0.checked_add(*count)?;
            pages = pages.checked_add(*count)?;
        }
        // A page holds at least a byte of the value.
        (at == bytes.len() && pages <= len).then_some(Self { len, extents })
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        varint::put(&mut out, self.len);
        varint::put(&mut out, self.extents.len() as u64);
        for (first, pages) in &self.extents {
            varint::put(&mut out, first.0);
            varint::put(&mut out, *pages);
        }
        out
    }

    /// All pages, in the value's order.
    pub(crate) fn pages(&self) -> impl Iterator<Item = PageId> + '_ {
        self.extents.iter().flat_map(|(first, pages)| (first.0..first.0 + pages).map(PageId))
    }

    fn page_at(&self, index: u64) -> Option<PageId> {
        let mut left = index;
        for (first, pages) in &self.extents {
            if left < *pages {
                return Some(PageId(first.0 + left));
            }
            left -= pages;
        }
        None
    }

    /// Fills `buf` with the value's bytes from `offset` on; gives the bytes read, fewer at the end.
    pub(crate) fn read_at<S: PageSource>(
        &self,
        source: &S,
        page_size: usize,
        offset: u64,
        buf: &mut [u8],
    ) -> Result<usize> {
        let chunk = (page_size - HEADER_LEN) as u64;
        let end = self.len.min(offset.saturating_add(buf.len() as u64));
        let mut at = offset;
        while at < end {
            let Some(id) = self.page_at(at / chunk) else {
                return Err(source.corrupt(PageId(0), "a large value has too few pages".into()));
            };
            let bytes = source.page(id)?;
            let skip = to_usize(at % chunk);
            let want = to_usize((end - at).min(chunk - skip as u64));
            if page::kind(&bytes) != PageKind::Extent || page::count(&bytes) < skip + want {
                return Err(source.corrupt(id, "it does not hold its part of a large value".into()));
            }
            let start = HEADER_LEN + skip;
            let to = to_usize(at - offset);
            buf[to..to + want].copy_from_slice(&bytes[start..start + want]);
            at += want as u64;
        }
        Ok(to_usize(end.saturating_sub(offset)))
    }

    /// The whole value. It is read page by page into memory that grows along: a damaged length runs into a
    /// missing page before it asks for more memory than there is.
    pub(crate) fn to_vec<S: PageSource>(&self, source: &S, page_size: usize) -> Result<Vec<u8>> {
        let mut value = Vec::new();
        let mut chunk = vec![0; page_size - HEADER_LEN];
        while (value.len() as u64) < self.len {
            let got = self.read_at(source, page_size, value.len() as u64, &mut chunk)?;
            value.extend_from_slice(&chunk[..got]);
        }
        Ok(value)
    }
}

/// Whether a value with this key goes into extents.
pub(crate) fn is_large(key_len: usize, value_len: usize, page_size: usize) -> bool {
    value_len > slotted::max_inline_value(page_size)
        || key_len + value_len > slotted::capacity(page_size) / 2 - 16
}

/// Writes a value into new extent pages.
pub(crate) fn write<S: PageSink>(sink: &mut S, value: &[u8], birth: CommitTs) -> Result<Vec<u8>> {
    let page_size = sink.page_size();
    let mut descriptor = Descriptor { len: value.len() as u64, extents: Vec::new() };
    for chunk in value.chunks(page_size - HEADER_LEN) {
        let id = sink.allocate_id(descriptor.extents.len() > SCATTERED_EXTENTS)?;
        let mut bytes = vec![0; page_size].into_boxed_slice();
        page::init(&mut bytes, id, PageKind::Extent, birth);
        page::set_count(&mut bytes, to_u16(chunk.len()));
        bytes[HEADER_LEN..HEADER_LEN + chunk.len()].copy_from_slice(chunk);
        sink.write_through(bytes)?;
        match descriptor.extents.last_mut() {
            Some((first, pages)) if first.0 + *pages == id.0 => *pages += 1,
            _ => descriptor.extents.push((id, 1)),
        }
    }
    Ok(descriptor.encode())
}

/// Frees the pages of the large value that `descriptor` names.
pub(crate) fn free<S: PageSink>(sink: &mut S, leaf: PageId, descriptor: &[u8]) -> Result<()> {
    let Some(descriptor) = Descriptor::decode(descriptor) else {
        return Err(sink.corrupt(leaf, "the descriptor of a large value is damaged".into()));
    };
    descriptor.pages().try_for_each(|id| sink.free(id))
}
