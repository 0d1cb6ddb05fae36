//! From the groups of a plan to parts: files whose headers are read, so that a wrong one is found before any row.
//!
//! A group of text files has one header, in its first file; a further file may repeat it. Files of values have a
//! header each. Types that nobody named are found by looking at every value of their column.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use super::bad_rows::REJECT_COLUMNS;
use super::blocks::{Block, Blocks, Content, Part, Row, open};
use super::csv::{Chunk, Chunks, Record, Records};
use super::field::{TypeSet, guess};
use super::header::{FileKind, Header, IdType, PlainColumns, Role, is_plain};
use super::ordered::ordered;
use super::plan::{GuessedColumn, LoadPlan, Phase};
use super::run::Context;
use super::table::Table;
use super::unpack::{self, Text};
use crate::error::{GraphError, LoadError, Result};

/// What a file gives, or what is wrong with it.
type Loaded<T> = std::result::Result<T, LoadError>;

/// The files of a group, with their headers.
pub(super) struct Group {
    pub(super) parts: Vec<Part<Header>>,
}

impl Group {
    /// Opens the files of a group as far as their headers.
    ///
    /// # Errors
    /// The first file that cannot be opened, or whose header is wrong.
    pub(super) fn open(
        context: &Context<'_>,
        kind: FileKind,
        files: &[PathBuf],
        guessed: &mut Vec<GuessedColumn>,
    ) -> Result<Self> {
        let Some(first) = files.first() else {
            return Err(LoadError::file("", "no file is named").into());
        };
        let parts = match table(context, first)? {
            Some(table) => table_parts(context, kind, files, table)?,
            None => text_parts(context, kind, files, guessed)?,
        };
        Ok(Self { parts })
    }
}

fn table(context: &Context<'_>, file: &Path) -> Result<Option<Box<dyn Table>>> {
    for format in &context.plan.formats {
        if let Some(table) = format.open(file)? {
            return Ok(Some(table));
        }
    }
    Ok(None)
}

fn table_parts(
    context: &Context<'_>,
    kind: FileKind,
    files: &[PathBuf],
    first: Box<dyn Table>,
) -> Result<Vec<Part<Header>>> {
    let mut parts = Vec::new();
    let mut first = Some(first);
    for file in files {
        // To open one may mean to read all of it: not twice.
        let opened = match first.take() {
            Some(first) => Some(first),
            None => table(context, file)?,
        };
        let Some(table) = opened else {
            let reason = "the first file of its group holds values and this one text; \
                          load them with options of their own";
            return Err(LoadError::file(file, reason).into());
        };
        let columns = Arc::new(table_header(context, kind, file, &*table)?);
        let width = columns.columns.len();
        parts.push(Part { file: (**file).into(), columns, width, content: Content::Table(table) });
    }
    Ok(parts)
}

/// The header of a table: its columns' names, with their types where those are said.
fn table_header(
    context: &Context<'_>,
    kind: FileKind,
    file: &Path,
    table: &dyn Table,
) -> Result<Header> {
    let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
    let mut header = header(context, kind, file, &names)?;
    for (column, said) in header.columns.iter_mut().zip(table.columns()) {
        let is_open = match column.role {
            Role::Property(_) => !said.name.contains(':'),
            // An id keeps its type too, unless somebody has said what ids are.
            Role::Id { .. } => {
                context.plan.id_type == IdType::String && !said.name.contains("id-type")
            }
            _ => false,
        };
        let is_named = context.plan.plain.types.iter().any(|(name, _)| *name == said.name);
        if !is_open || is_named {
            continue;
        }
        column.untyped = said.type_text.is_none();
        if let Some(text) = &said.type_text {
            let wrong =
                |reason| LoadError::file(file, reason).at_column(column.index + 1, &column.text);
            column.column_type = text.parse().map_err(wrong)?;
        }
    }
    Ok(header)
}

/// What the fields of a header mean, said by themselves or by the plan.
fn header(context: &Context<'_>, kind: FileKind, file: &Path, fields: &[String]) -> Loaded<Header> {
    let LoadPlan { plain, id_type, .. } = context.plan;
    let bytes = || fields.iter().map(String::as_bytes);
    if *plain != PlainColumns::default() && is_plain(bytes()) {
        let plain = plain_here(context, fields);
        return Header::from_names(kind, file, bytes(), &plain, *id_type);
    }
    let header = Header::parse(kind, file, bytes(), *id_type)?;
    match fields.iter().position(|field| plain.id.contains(field)) {
        Some(index) if kind == FileKind::Nodes && header.ids().next().is_none() => {
            let name = &fields[index];
            let reason = format!(
                "the header says types, so that --id-column says nothing of it; write {name}:ID in \
                 the header, or leave the types to --types"
            );
            Err(LoadError::line(file, 1, reason).at_column(index + 1, name))
        }
        _ => Ok(header),
    }
}

/// What the plan says of the columns of one file. With several groups a type, or a column to leave out, may belong
/// to another: what is in none of them is found by [`check_columns`].
fn plain_here(context: &Context<'_>, fields: &[String]) -> PlainColumns {
    let mut plain = context.plan.plain.clone();
    if context.plan.nodes.len() + context.plan.relationships.len() > 1 {
        plain.types.retain(|(name, _)| fields.contains(name));
        plain.ignored.retain(|name| fields.contains(name));
    }
    let mut columns = context.columns.lock().unwrap_or_else(PoisonError::into_inner);
    for name in fields {
        if !columns.contains(name) {
            columns.push(name.clone());
        }
    }
    drop(columns);
    plain
}

/// Holds the names of columns in the plan against those of all files, once all headers are read.
///
/// # Errors
/// A column with a type, or to be left out, that no file has.
pub(super) fn check_columns(context: &Context<'_>) -> Loaded<()> {
    let LoadPlan { plain, nodes, relationships, .. } = context.plan;
    let columns = context.columns.lock().unwrap_or_else(PoisonError::into_inner);
    let mut named = plain.types.iter().map(|(name, _)| name).chain(&plain.ignored);
    let files = nodes.iter().map(|group| &group.files);
    let mut files = files.chain(relationships.iter().map(|group| &group.files)).flatten();
    let missing = named.find(|name| !columns.contains(name));
    if let (false, Some(name), Some(file)) = (columns.is_empty(), missing, files.next()) {
        let reason =
            format!("there is no column {name:?} in any file; there are {}", columns.join(", "));
        return Err(LoadError::file(file, reason));
    }
    Ok(())
}

fn text_parts(
    context: &Context<'_>,
    kind: FileKind,
    files: &[PathBuf],
    guessed: &mut Vec<GuessedColumn>,
) -> Result<Vec<Part<Header>>> {
    for file in &files[1..] {
        if table(context, file)?.is_some() {
            let reason = "the first file of its group is text and this one holds values; load them with \
                          options of their own";
            return Err(LoadError::file(file, reason).into());
        }
    }
    let once = |file: &Path| context.source.len(file).is_none();
    let first: Arc<Path> = (*files[0]).into();
    let mut chunks = open(context, &first)?;
    let line = first_line(&first, &mut chunks)?;
    let has_header = !context.plan.no_header;
    let fields = fields(&line, &first, context)?;
    // Blank lines may come before it.
    let on_its_line = |error: LoadError| LoadError { line: line.first_line, ..error };
    let mut header = header(context, kind, &first, &fields).map_err(on_its_line)?;
    let width = header.columns.len();
    let row: Option<Arc<[u8]>> = has_header.then(|| line.text[..].into());
    let text = || Content::Text { header: row.clone() };
    if header.untyped().next().is_some() {
        refuse_pipes(context, files)?;
        let part = |file: &PathBuf| Part {
            file: (**file).into(),
            columns: Arc::new(()),
            width,
            content: text(),
        };
        look(context, &mut header, files.iter().map(part).collect(), guessed)?;
    }
    let columns = Arc::new(header);
    // A file that can be read only once goes on behind the header that was read.
    if !has_header {
        chunks.put_back(line);
    }
    let mut opened = once(&first).then_some(chunks);
    let parts = files.iter().map(|file| {
        let content = match opened.take() {
            Some(chunks) => Content::Opened(Box::new(chunks)),
            None => text(),
        };
        Part { file: (**file).into(), columns: Arc::clone(&columns), width, content }
    });
    Ok(parts.collect())
}

fn refuse_pipes(context: &Context<'_>, files: &[PathBuf]) -> Loaded<()> {
    match files.iter().find(|file| context.source.len(file).is_none()) {
        Some(file) => {
            let reason = "it can be read only once, so types cannot be found by looking at its values \
                          first; name them: --types name:type,…";
            Err(LoadError::file(file, reason))
        }
        None => Ok(()),
    }
}

/// The first row of a file of text.
fn first_line(file: &Path, chunks: &mut Chunks<Text>) -> Loaded<Chunk> {
    let first = chunks.first_record();
    let first = first.map_err(|error| LoadError::file(file, unpack::describe(&error)))?;
    let none = || {
        let reason = "it holds no header line; name the file with the header first";
        LoadError::file(file, reason)
    };
    let chunk = first.ok_or_else(none)?;
    if chunk.unclosed || chunk.too_long {
        let reason = "a quote opened in the first row is never closed";
        return Err(LoadError::line(file, chunk.first_line, reason));
    }
    Ok(chunk)
}

/// The fields of the header; numbers where there is none.
fn fields(line: &Chunk, file: &Path, context: &Context<'_>) -> Loaded<Vec<String>> {
    let mut record = Record::new();
    Records::new(&line.text, line.first_line, context.plan.dialect).next(&mut record);
    if context.plan.no_header {
        return Ok((1..=record.len()).map(|number| number.to_string()).collect());
    }
    let field = |index: usize| {
        let text = std::str::from_utf8(record.text(index)).map_err(|_| {
            let reason = "the header is not UTF-8; convert the file, for example with iconv";
            LoadError::line(file, line.first_line, reason)
                .at_column(index + 1, String::from_utf8_lossy(record.text(index)))
        })?;
        Ok(text.trim().to_owned())
    };
    let fields: Vec<String> = (0..record.len()).map(field).collect::<Loaded<_>>()?;
    if line.text.trim_ascii_start().first() == Some(&b'{') {
        let reason = "it looks like JSON; one object on each line, in a file whose name ends in .jsonl, \
                      is read, but not from a pipe";
        return Err(LoadError::line(file, line.first_line, reason));
    }
    if fields == REJECT_COLUMNS {
        let reason = "it is a file of rejected rows; mend the rows in it, repeat the load that wrote it, \
                      and name it with --again";
        return Err(LoadError::file(file, reason));
    }
    Ok(fields)
}

/// Finds the types of columns by looking at all their values.
fn look(
    context: &Context<'_>,
    header: &mut Header,
    parts: Vec<Part<()>>,
    guessed: &mut Vec<GuessedColumn>,
) -> Result<()> {
    context.progress.enter(Phase::Looking);
    let file = parts[0].file.to_path_buf();
    let columns: Vec<usize> = header.untyped().map(|column| column.index).collect();
    let mut found = vec![TypeSet::ANY; columns.len()];
    let mut blocks = Blocks::new(context, parts);
    ordered(
        context.memory.under_way(),
        || blocks.next_weighed(),
        |block: Block<()>| {
            let mut types = vec![TypeSet::ANY; columns.len()];
            block.for_each(&context.rules, |row| {
                // Rows that are none are found again when they are loaded.
                if let Ok(row) = row {
                    narrow(&row, &columns, &mut types);
                }
            });
            types
        },
        |types| {
            found.iter_mut().zip(types).for_each(|(all, here)| all.narrow(here));
            Ok::<_, GraphError>(())
        },
    )?;
    for (index, types) in columns.into_iter().zip(found) {
        header.set_type(index, types.best());
        let (column, type_name) = (&header.columns[index].text, types.best().name());
        let (column, type_name) = (column.clone(), type_name.to_owned());
        guessed.push(GuessedColumn { file: file.clone(), column, type_name });
    }
    Ok(())
}

fn narrow(row: &Row<'_>, columns: &[usize], types: &mut [TypeSet]) {
    for (index, types) in columns.iter().zip(types) {
        if let Some(field) = row.field(*index) {
            types.narrow(guess(field));
        }
    }
}
