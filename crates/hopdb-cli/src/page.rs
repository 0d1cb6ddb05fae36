//! `hop page`: one page of the file.

use std::io::Write;
use std::path::PathBuf;

use hopdb::inspect::{Field, Kind, Page};

use crate::failure::Failure;
use crate::screen::{Screen, count, counted};
use crate::{dump, open};

const EXAMPLES: &str = "\
Examples:
  hop page friends.hop 0
  hop page friends.hop 7
  hop page friends.hop 7 --json

`hop node DB NODE --bytes` tells which pages a node lies in.";

/// Bytes of the header of all pages but the first two.
const HEADER_LEN: usize = 48;
/// Most columns of keys.
const KEY_COLUMNS_MAX: usize = 52;

/// Show what is in a page of the file
///
/// First the header, byte for byte; then, of a page of a tree, its slots with keys and values, and
/// of other pages what they hold. A page that is damaged is shown as far as it can be read.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The database file
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// The page's number, from 0
    #[arg(value_name = "PAGE")]
    page: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let db = open::read_only(&args.database, None)?;
    let snapshot = db.read()?;
    let Some(page) = snapshot.inspect_page(args.page)? else {
        let pages = snapshot.page_count();
        let name = args.database.display();
        return Err(Failure::NothingFound {
            message: format!("{name} has no page {}", args.page),
            hint: Some(format!("it has {} pages: 0 to {}", count(pages), pages - 1)),
        });
    };
    if args.json {
        return screen.json(&page);
    }
    headline(screen, &page)?;
    let bytes = &page.bytes.0;
    if page.slots.is_empty() {
        return dump::fields(screen, bytes, 0, &page.fields);
    }
    let header = page.fields.partition_point(|field| field.start < HEADER_LEN);
    dump::fields(screen, bytes, 0, &page.fields[..header])?;
    slots(screen, &page)
}

fn headline(screen: &mut Screen, page: &Page) -> Result<(), Failure> {
    let of = page.table.as_ref().map(|table| format!(" of table {table}"));
    let level = match page.kind {
        Kind::Branch => format!(" at level {}", page.level),
        _ => String::new(),
    };
    let kind = dump::kind(page.kind);
    let at = page.page * page.bytes.0.len() as u64;
    screen.headline(&format!("page {}: {kind}{level}{}", page.page, of.unwrap_or_default()))?;
    Ok(writeln!(screen, "  {} from byte {} of the file\n", size(page), count(at))?)
}

fn size(page: &Page) -> String {
    counted(page.bytes.0.len() as u64, "byte", "bytes")
}

fn slots(screen: &mut Screen, page: &Page) -> Result<(), Failure> {
    let sum = |name: &str| -> usize {
        page.fields.iter().filter(|field: &&Field| field.name == name).map(|field| field.len).sum()
    };
    let slots = counted(page.slots.len() as u64, "slot", "slots");
    let cells: usize = page.slots.iter().map(|slot| slot.len).sum();
    let [cells, gap, holes] = [cells, sum("gap"), sum("hole")].map(|bytes| count(bytes as u64));
    writeln!(
        screen,
        "\n  {slots}; cells of {cells} bytes, {gap} free before them, {holes} free between them\n"
    )?;
    let keys = page.slots.iter().map(|slot| slot.key.chars().count()).max().unwrap_or(0);
    let keys = keys.clamp(3, KEY_COLUMNS_MAX);
    let (key, value) = match page.kind {
        Kind::Branch => ("keys from", "child"),
        _ => ("key", "value"),
    };
    let line = format!("  slot  cell at  bytes  {key:keys$}  {value}");
    writeln!(screen, "{}", screen.dim(line.trim_end()))?;
    for slot in &page.slots {
        let key = dump::cut(&slot.key, keys);
        let (number, offset, len) = (slot.slot, slot.offset, slot.len);
        let line = format!("  {number:>4}  {offset:>7}  {len:>5}  {key:keys$}  {}", slot.value);
        writeln!(screen, "{}", dump::cut(line.trim_end(), dump::COLUMNS))?;
    }
    Ok(())
}
