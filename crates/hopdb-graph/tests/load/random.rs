//! Random graphs in random dialects: one load, a load and an addition, and a load that sorts on disk, all give the
//! graph that was written.

use std::fmt::Write as _;

use fastrand::Rng;
use hopdb_graph::ids::NodeId;
use hopdb_graph::load::csv::{Dialect, write_field};
use hopdb_testkit::graph_model::GraphModel;
use proptest::prelude::*;

use super::files::{Load, assert_like};

const TYPES: [&str; 3] = ["R", "S", "T"];

struct Node {
    id: String,
    label: Option<&'static str>,
    text: Option<String>,
    number: Option<i64>,
}

struct Relationship {
    start: usize,
    type_number: usize,
    end: usize,
    text: Option<String>,
}

/// Nodes and relationships of which the second half is added to the first.
struct Halves {
    nodes: [Vec<Node>; 2],
    relationships: [Vec<Relationship>; 2],
}

/// Text of what makes dialects hard.
fn text(random: &mut Rng) -> String {
    const PARTS: [&str; 14] =
        ["", "a", " ", ",", ";", "\t", "|", "\"", "'", "\\", "\n", "\r\n", "ü", "long text"];
    (0..random.usize(0..5)).map(|_| *random.choice(PARTS.iter()).unwrap()).collect()
}

fn halves(random: &mut Rng) -> Halves {
    let mut count = 0;
    let nodes = [random.usize(1..40), random.usize(0..40)].map(|len| {
        let made = (0..len).map(|_| {
            count += 1;
            Node {
                id: format!("{}{count}", text(random)),
                label: random.choice([Some("A"), Some("B"), None]).unwrap(),
                text: random.bool().then(|| text(random)),
                number: random.bool().then(|| random.i64(-5..5)),
            }
        });
        made.collect::<Vec<_>>()
    });
    let first = nodes[0].len();
    let relationships = [first, first + nodes[1].len()].map(|ends| {
        let made = (0..random.usize(0..120)).map(|_| Relationship {
            start: random.usize(0..ends),
            type_number: random.usize(0..3),
            end: random.usize(0..ends),
            text: random.bool().then(|| text(random)),
        });
        made.collect::<Vec<_>>()
    });
    Halves { nodes, relationships }
}

/// How files are written.
struct Style {
    dialect: Dialect,
    line_end: &'static str,
    quotes_all: bool,
}

impl Style {
    fn random(random: &mut Rng) -> Self {
        let delimiter = random.choice([",", ";", "\t", "|", "a"]).unwrap();
        let mut dialect = Dialect::with_delimiter(delimiter).unwrap();
        if random.bool() {
            dialect = dialect.with_quote("'").unwrap();
        }
        if random.bool() {
            dialect = dialect.with_escape("\\").unwrap();
        }
        let line_end = random.choice(["\n", "\r\n"]).unwrap();
        Self { dialect, line_end, quotes_all: random.u8(0..4) == 0 }
    }

    /// Appends a row; `None` is no value.
    fn row(&self, out: &mut Vec<u8>, fields: &[Option<&str>]) {
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                out.push(self.dialect.delimiter());
            }
            let Some(field) = field else { continue };
            if !self.quotes_all {
                write_field(out, field.as_bytes(), self.dialect, true);
                continue;
            }
            let (quote, escape) = (self.dialect.quote(), self.dialect.escape());
            out.push(quote);
            for byte in field.bytes() {
                if byte == quote || Some(byte) == escape {
                    out.push(byte);
                }
                out.push(byte);
            }
            out.push(quote);
        }
        out.extend_from_slice(self.line_end.as_bytes());
    }
}

/// Rows in one to three files, some of which repeat the header, and some without a last line end.
fn files(
    style: &Style,
    random: &mut Rng,
    header: &[Option<&str>],
    rows: &[Vec<u8>],
) -> Vec<Vec<u8>> {
    let mut first = Vec::new();
    style.row(&mut first, header);
    let mut made = vec![first.clone()];
    for row in rows {
        if random.usize(0..rows.len()) == 0 && made.len() < 3 {
            made.push(if random.bool() { first.clone() } else { style.line_end.into() });
        }
        let last = made.last_mut().unwrap();
        last.extend_from_slice(row);
        if random.u8(0..10) == 0 {
            last.extend_from_slice(style.line_end.as_bytes());
        }
    }
    for file in &mut made {
        let ends = rows.iter().any(|row| file.ends_with(row));
        if ends && random.bool() {
            file.truncate(file.len() - style.line_end.len());
        }
    }
    made
}

/// Adds the files of some halves to a load.
fn written(mut load: Load, style: &Style, random: &mut Rng, all: &Halves, which: &[usize]) -> Load {
    let ids: Vec<&str> = all.nodes.iter().flatten().map(|node| &*node.id).collect();
    for half in which {
        let rows = all.nodes[*half].iter().map(|node| {
            let mut row = Vec::new();
            let number = node.number.map(|number| number.to_string());
            style.row(
                &mut row,
                &[Some(&node.id), node.text.as_deref(), node.label, number.as_deref()],
            );
            row
        });
        let rows: Vec<_> = rows.collect();
        let header = [Some("id:ID"), Some("text"), Some(":LABEL"), Some("n:int")];
        let made = files(style, random, &header, &rows);
        let names: Vec<_> = (0..made.len()).map(|number| format!("n{half}{number}.csv")).collect();
        for (name, text) in names.iter().zip(made) {
            load = load.file(name, text);
        }
        load = load.nodes(&["P"], &names.iter().map(|name| &**name).collect::<Vec<_>>());
    }
    for half in which {
        let rows = all.relationships[*half].iter().map(|row| {
            let Relationship { start, type_number, end, text } = row;
            let mut row = Vec::new();
            let type_name = TYPES[*type_number];
            style.row(
                &mut row,
                &[Some(ids[*start]), Some(ids[*end]), Some(type_name), text.as_deref()],
            );
            row
        });
        let rows: Vec<_> = rows.collect();
        let header = [Some(":START_ID"), Some(":END_ID"), Some(":TYPE"), Some("text")];
        let made = files(style, random, &header, &rows);
        let names: Vec<_> = (0..made.len()).map(|number| format!("r{half}{number}.csv")).collect();
        for (name, text) in names.iter().zip(made) {
            load = load.file(name, text);
        }
        load = load.relationships(None, &names.iter().map(|name| &**name).collect::<Vec<_>>());
    }
    load.plan.dialect = style.dialect;
    load
}

fn add_nodes(model: &mut GraphModel, nodes: &[Node]) {
    for node in nodes {
        let labels: Vec<&str> = std::iter::once("P").chain(node.label).collect();
        let mut properties = vec![("id", node.id.as_str().into())];
        properties.extend(node.text.as_deref().map(|text| ("text", text.into())));
        properties.extend(node.number.map(|number| ("n", number.into())));
        model.create_node(&labels, &properties).unwrap();
    }
}

/// Relationships are numbered by start, type in the order of first sight, and end; those alike as they come.
fn add_relationships(model: &mut GraphModel, rows: &[&Relationship], seen: &mut Vec<usize>) {
    for row in rows {
        if !seen.contains(&row.type_number) {
            seen.push(row.type_number);
        }
    }
    let mut rows = rows.to_vec();
    let place = |row: &Relationship| seen.iter().position(|seen| *seen == row.type_number);
    rows.sort_by_key(|row| (row.start, place(row), row.end));
    for row in rows {
        let text: Vec<_> =
            row.text.as_deref().map(|text| ("text", text.into())).into_iter().collect();
        let [start, end] = [row.start, row.end].map(|node| NodeId(node as u64));
        model.create_relationship(start, TYPES[row.type_number], end, &text).unwrap();
    }
}

fn check(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let all = halves(&mut random);
    let style = Style::random(&mut random);
    let unique = |load: Load| load.index("P", "id", true).index("B", "n", false);
    let indexed = |model: &mut GraphModel| {
        model.create_index("P", "id", true).unwrap();
        model.create_index("B", "n", false).unwrap();
    };
    if !all.nodes[0].iter().any(|node| node.label == Some("B")) {
        return;
    }

    let whole = unique(written(Load::default(), &style, &mut random, &all, &[0, 1]));
    let mut model = GraphModel::default();
    all.nodes.iter().for_each(|nodes| add_nodes(&mut model, nodes));
    let rows: Vec<_> = all.relationships.iter().flatten().collect();
    add_relationships(&mut model, &rows, &mut Vec::new());
    indexed(&mut model);
    whole.gives(&model);

    let first = unique(written(Load::default(), &style, &mut random, &all, &[0]));
    let mut model = GraphModel::default();
    let mut seen = Vec::new();
    add_nodes(&mut model, &all.nodes[0]);
    add_relationships(&mut model, &all.relationships[0].iter().collect::<Vec<_>>(), &mut seen);
    indexed(&mut model);
    let (_folder, graph) = first.gives(&model);
    let style = Style::random(&mut random);
    let second = written(Load::default(), &style, &mut random, &all, &[1]);
    second.add(&graph).unwrap();
    add_nodes(&mut model, &all.nodes[1]);
    add_relationships(&mut model, &all.relationships[1].iter().collect::<Vec<_>>(), &mut seen);
    assert_like(&graph, &model);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn one_load_or_a_load_and_an_addition_give_the_graph_that_was_written(seed in any::<u64>()) {
        check(seed);
    }
}

#[test]
fn memory_and_the_cut_into_blocks_do_not_matter() {
    let mut random = Rng::with_seed(7);
    let (nodes, rows) = (40_000_u64, 100_000);
    let (mut people, mut pairs) = (Vec::new(), Vec::new());
    for id in 0..nodes {
        let value = random.u32(..);
        people.push(format!("n{id},{value},\"line\n{value:030}\"\n"));
    }
    for _ in 0..rows {
        let (start, end) = (random.u64(0..nodes), random.u64(0..nodes));
        pairs.push(format!(
            "n{start},n{end},{},{}\n",
            random.choice(TYPES).unwrap(),
            random.u8(..)
        ));
    }
    let load = |parts: usize, memory_bytes: usize| {
        let mut load = Load::default()
            .file("n.csv", "id:ID,v:long,text\n")
            .file("r.csv", ":START_ID,:END_ID,:TYPE,w:int\n");
        let mut names = [vec!["n.csv".to_owned()], vec!["r.csv".to_owned()]];
        for (names, rows) in names.iter_mut().zip([&people, &pairs]) {
            for rows in rows.chunks(rows.len().div_ceil(parts)) {
                let mut name = names[0].clone();
                write!(name, "{}", names.len()).unwrap();
                load = load.file(&name, rows.concat());
                names.push(name);
            }
        }
        let [people, pairs] =
            names.each_ref().map(|names| names.iter().map(|name| &**name).collect::<Vec<_>>());
        load = load.nodes(&["P"], &people).relationships(None, &pairs);
        load = load.index("P", "text", false).index("P", "id", true);
        load.plan.memory_bytes = memory_bytes;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.hop");
        let report = load.run(&path).unwrap();
        // Two header pages name the file, each file otherwise.
        (report.spilled_bytes, std::fs::read(&path).unwrap().split_off(2 * 4_096))
    };
    let (spilled, in_memory) = load(1, 1 << 30);
    assert_eq!(spilled, 0);
    for parts in [7, 300] {
        let (spilled, on_disk) = load(parts, 64 << 20);
        assert!(spilled > 0, "{spilled} bytes");
        assert!(on_disk == in_memory, "another file by {parts} parts");
    }
}
