//! The options of `hop load`, and the plan they make.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use hopdb::load::{
    BadRowRules, Dialect, FieldOptions, IdType, IndexFor, JsonLines, LoadPlan, MEMORY_BYTES,
    PlainColumns, TableFormat,
};

use super::files::{self, Place};
use crate::failure::Failure;
use crate::size::ByteSize;
use crate::start::LabelProperty;

const EXAMPLES: &str = "\
Examples:
  hop load friends.hop --nodes=Person=people.csv --relationships=FRIEND=friends.csv \\
      --unique Person.id
  hop load shop.hop --delimiter '|' --nodes=Customer:Person=customers.csv.gz \\
      --nodes=Product=header.csv,'parts/*.csv' --relationships=BOUGHT=orders.csv \\
      --index Product.name
  hop load web.hop --nodes=Page=pages.csv --relationships=TO=links.tsv --delimiter tab \\
      --id-column url --from-column source --to-column target
  hop load big.hop --nodes=nodes.csv --relationships=rows.csv --bad-tolerance 100 \\
      --rejects rejected.csv
  zcat more.csv.gz | hop load friends.hop --add --nodes=Person=-

Headers are those of `neo4j-admin database import`:
  nodes          id:ID(Person),name:string,born:int,tags:string[],:LABEL
  relationships  :START_ID(Person),:END_ID(Person),:TYPE,since:date,note:IGNORE
The first file of a group begins with the header; further ones may repeat it. Files may be gzip or
zip, and - is the standard input. A text that as a whole names a file is taken as that file; else
what stands before its first `=` is labels or type, and a file whose name holds `=` is written with
one in front, as in --nodes==a=b.csv. Options may come from a file, @options.txt: one on each line,
its value behind `=`, without quotes of the shell. The guide is docs/import.md.";

/// Load CSV, JSON lines and other files into a new database, or add them to one
///
/// The load is whole or not at all: a bad row, a full disk, Ctrl-C or a crash leaves everything as
/// it was. A row that cannot be loaded is named by file, line and column.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The database file to make; with --add the one to load into
    #[arg(value_name = "DB")]
    pub(super) database: PathBuf,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    dialect: DialectArgs,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    bad_rows: BadRows,
    #[command(flatten)]
    target: Target,
    /// Print one JSON object at the end
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(clap::Args)]
#[command(next_help_heading = "What to load")]
struct Files {
    /// Files of nodes that share a header, and labels for all of them; may be given many times
    #[arg(
        long,
        value_name = "[LABEL[:LABEL…]=]FILE[,FILE…]",
        required_unless_present = "relationships"
    )]
    nodes: Vec<OsString>,
    /// Files of relationships that share a header, and their type; may be given many times
    #[arg(long, value_name = "[TYPE=]FILE[,FILE…]")]
    relationships: Vec<OsString>,
    /// Where files are whose names do not begin with /
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

#[derive(clap::Args)]
#[command(next_help_heading = "How files are written")]
#[expect(clippy::struct_excessive_bools, reason = "one for each option")]
struct DialectArgs {
    /// What stands between fields: one character, or tab
    #[arg(long, value_name = "CHAR", default_value = ",")]
    delimiter: String,
    /// What stands between the items of an array; `;`, or `,` where fields are separated by `;`
    #[arg(long, value_name = "CHAR")]
    array_delimiter: Option<String>,
    /// What stands between the numbers of a vector; `;`, or `,` where fields are separated by `;`
    #[arg(long, value_name = "CHAR")]
    vector_delimiter: Option<String>,
    /// What fields with special characters are quoted by
    #[arg(long, value_name = "CHAR", default_value = "\"")]
    quote: String,
    /// What takes a quote in a quoted field for the character itself, as \ does; a doubled quote does so always
    #[arg(long, value_name = "CHAR")]
    escape: Option<String>,
    /// Whether a quoted field may run over several lines
    #[arg(long, value_name = "BOOL", default_value_t = true, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", action = clap::ArgAction::Set)]
    multiline_fields: bool,
    /// Cut white space from both ends of strings that are not quoted
    #[arg(long, value_name = "BOOL", default_value_t = false, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", action = clap::ArgAction::Set)]
    trim_strings: bool,
    /// Take "" for no property, as an empty field without quotes is always
    #[arg(long, value_name = "BOOL", default_value_t = false, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", action = clap::ArgAction::Set)]
    ignore_empty_strings: bool,
    /// Take rows with more fields than the header has columns, and leave the further ones out
    #[arg(long, value_name = "BOOL", default_value_t = false, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", action = clap::ArgAction::Set)]
    ignore_extra_columns: bool,
}

#[derive(clap::Args)]
#[command(next_help_heading = "What columns mean, where headers are names alone")]
struct Columns {
    /// Column with the ids of nodes; several, with commas between, make one id together
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    id_column: Vec<String>,
    /// Column with the labels of nodes
    #[arg(long, value_name = "NAME")]
    label_column: Option<String>,
    /// Column with the ids of the nodes that relationships start at
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    from_column: Vec<String>,
    /// Column with the ids of the nodes that relationships end at
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    to_column: Vec<String>,
    /// Column with the types of relationships
    #[arg(long, value_name = "NAME")]
    type_column: Option<String>,
    /// Types of columns; those of the others are found by looking at all values
    #[arg(long, value_name = "NAME:TYPE[,NAME:TYPE…]")]
    types: Vec<NamesAndTypes>,
    /// Columns to leave out
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    ignore_columns: Vec<String>,
    /// No file has a header: columns are called 1, 2 and so on
    #[arg(long)]
    no_header: bool,
    /// What ids are, unless a header says: any text, integers, or the numbers of the nodes
    #[arg(long, value_name = "string|integer|actual", default_value = "string")]
    id_type: IdType,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Rows that cannot be loaded")]
struct BadRows {
    /// How many may be left out; the next one stops the load
    #[arg(long, value_name = "N", default_value_t = 0)]
    bad_tolerance: u64,
    /// Write the rows left out to this CSV file, with place and reason
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Load only the rows of a mended file that --rejects wrote; other options as before, mostly with --add
    #[arg(long, value_name = "FILE")]
    again: Option<PathBuf>,
    /// Leave out nodes whose id is taken, however many
    #[arg(long, value_name = "BOOL", default_value_t = false, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", action = clap::ArgAction::Set)]
    skip_duplicate_nodes: bool,
    /// Leave out relationships whose type or an end is missing, however many
    #[arg(long, value_name = "BOOL", default_value_t = false, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", action = clap::ArgAction::Set)]
    skip_bad_relationships: bool,
}

#[derive(clap::Args)]
#[command(next_help_heading = "The database")]
struct Target {
    /// Load into the database that is there, in one transaction
    #[arg(long)]
    add: bool,
    /// How start nodes are found that were there before: by a unique index
    #[arg(long, value_name = "LABEL.PROPERTY", requires = "add")]
    from_nodes: Option<LabelProperty>,
    /// How end nodes are found that were there before: by a unique index
    #[arg(long, value_name = "LABEL.PROPERTY", requires = "add")]
    to_nodes: Option<LabelProperty>,
    /// Index the nodes with a label by a property; may be given many times
    #[arg(long, value_name = "LABEL.PROPERTY")]
    index: Vec<LabelProperty>,
    /// Index that also refuses the same value twice; may be given many times
    #[arg(long, value_name = "LABEL.PROPERTY")]
    unique: Vec<LabelProperty>,
    /// Memory for all of the load; past it, sorting goes to disk beside the database
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    memory: ByteSize,
}

/// `age:int,at:point{crs:WGS-84,height:0}`: commas and colons in braces belong to the type.
#[derive(Clone, Debug)]
struct NamesAndTypes(Vec<(String, String)>);

impl FromStr for NamesAndTypes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut depth = 0_i32;
        let parts = text.split(|character| {
            depth += i32::from(character == '{') - i32::from(character == '}');
            depth == 0 && character == ','
        });
        let name_and_type = |part: &str| {
            let colon = part[..part.find('{').unwrap_or(part.len())].rfind(':')?;
            let (name, type_name) = (part[..colon].trim(), part[colon + 1..].trim());
            let is_whole = !name.is_empty() && !type_name.is_empty();
            is_whole.then(|| (name.to_owned(), type_name.to_owned()))
        };
        let all = parts.map(name_and_type).collect::<Option<_>>();
        all.map(Self).ok_or_else(|| "write name:type, as in age:int".into())
    }
}

impl Args {
    /// Whether the database is there already.
    pub(super) fn adds(&self) -> bool {
        self.target.add
    }

    pub(super) fn plan(&self) -> Result<LoadPlan, Failure> {
        let Self { files, dialect, columns, bad_rows, target, .. } = self;
        let place = Place::new(files.folder.as_deref());
        let nodes = files.nodes.iter().map(|text| files::nodes(&place, text));
        let relationships = files.relationships.iter();
        let relationships = relationships.map(|text| files::relationships(&place, text));
        let (nodes, relationships): (Vec<_>, Vec<_>) =
            (nodes.collect::<Result<_, _>>()?, relationships.collect::<Result<_, _>>()?);
        let files = nodes.iter().flat_map(|group| &group.files);
        files::refuse_two_inputs(files.chain(relationships.iter().flat_map(|group| &group.files)))?;
        let index = |unique| {
            move |by: &LabelProperty| IndexFor {
                label: by.label.clone(),
                property: by.property.clone(),
                unique,
            }
        };
        let indexes = target.index.iter().map(index(false));
        let found_by = |by: &Option<LabelProperty>| {
            by.as_ref().map(|by| (by.label.clone(), by.property.clone()))
        };
        Ok(LoadPlan {
            nodes,
            relationships,
            dialect: dialect.read()?,
            fields: FieldOptions {
                trim_strings: dialect.trim_strings,
                ignore_empty_strings: dialect.ignore_empty_strings,
                ignore_extra_columns: dialect.ignore_extra_columns,
            },
            id_type: columns.id_type,
            plain: columns.plain(),
            no_header: columns.no_header,
            start_nodes: found_by(&target.from_nodes),
            end_nodes: found_by(&target.to_nodes),
            indexes: indexes.chain(target.unique.iter().map(index(true))).collect(),
            bad_rows: BadRowRules {
                tolerance: bad_rows.bad_tolerance,
                rejects: bad_rows.rejects.clone(),
                skip_duplicate_nodes: bad_rows.skip_duplicate_nodes,
                skip_bad_relationships: bad_rows.skip_bad_relationships,
            },
            again: bad_rows.again.clone(),
            memory_bytes: target.memory.0,
            formats: formats(),
        })
    }
}

/// The formats of files that are no CSV.
fn formats() -> Vec<Arc<dyn TableFormat>> {
    vec![
        Arc::new(JsonLines),
        #[cfg(feature = "columnar")]
        Arc::new(hopdb_columnar::Columnar),
    ]
}

impl DialectArgs {
    fn read(&self) -> Result<Dialect, Failure> {
        let wrong = |message| Failure::Input { message, hint: None };
        let mut dialect = Dialect::with_delimiter(&self.delimiter).map_err(wrong)?;
        if let Some(delimiter) = &self.array_delimiter {
            dialect = dialect.with_array_delimiter(delimiter).map_err(wrong)?;
        }
        if let Some(delimiter) = &self.vector_delimiter {
            dialect = dialect.with_vector_delimiter(delimiter).map_err(wrong)?;
        }
        dialect = dialect.with_quote(&self.quote).map_err(wrong)?;
        if let Some(escape) = &self.escape {
            dialect = dialect.with_escape(escape).map_err(wrong)?;
        }
        Ok(dialect.with_multiline(self.multiline_fields))
    }
}

impl Columns {
    fn plain(&self) -> PlainColumns {
        PlainColumns {
            id: self.id_column.clone(),
            labels: self.label_column.clone(),
            from: self.from_column.clone(),
            to: self.to_column.clone(),
            relationship_type: self.type_column.clone(),
            types: self.types.iter().flat_map(|types| types.0.clone()).collect(),
            ignored: self.ignore_columns.clone(),
            ..PlainColumns::default()
        }
    }
}

const _: () = assert!(MEMORY_BYTES == 1 << 30, "the help says so");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_may_hold_commas_and_colons_in_braces() {
        let read = |text: &str| text.parse::<NamesAndTypes>().map(|types| types.0);
        let owned = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, of)| ((*name).into(), (*of).into())).collect::<Vec<_>>()
        };
        for (text, pairs) in [
            ("age:int", &[("age", "int")][..]),
            ("a:int, b:string[]", &[("a", "int"), ("b", "string[]")]),
            ("dc:title:string", &[("dc:title", "string")]),
            (
                "at:datetime{timezone:+01:00},v:vector{coordinateType:float,dimensions:3},n:int",
                &[
                    ("at", "datetime{timezone:+01:00}"),
                    ("v", "vector{coordinateType:float,dimensions:3}"),
                    ("n", "int"),
                ],
            ),
        ] {
            assert_eq!(read(text), Ok(owned(pairs)), "{text}");
        }
        for text in ["", "age", "age:", ":int", "a:int,", "{a:int}"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
