//! From stanzas to CSV files, and how to load them.
//!
//! A package that the lists have is a `:Package`, whatever its version; of several stanzas of one name (other
//! versions, other architectures) the first counts. A name that is only provided or referred to is a
//! `:VirtualPackage`. Both share one space of ids, so that relationships lead to either. Maintainers are told apart by
//! their addresses.
//!
//! Every name in a field of relations is a relationship, with the number of its clause and of its alternative in the
//! clause, and with version and architecture where it has them. What is written twice is there twice.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use hopdb::load::{IndexFor, LoadPlan, NodeFiles, RelationshipFiles};

use super::apt;
use super::control::{Relation, Stanza, relations};
use crate::failure::Failure;

/// Fields of relations, with their relationship types and files.
const RELATIONS: [(&str, &str, &str); 9] = [
    ("Depends", "DEPENDS", "depends.csv"),
    ("Pre-Depends", "PRE_DEPENDS", "pre_depends.csv"),
    ("Recommends", "RECOMMENDS", "recommends.csv"),
    ("Suggests", "SUGGESTS", "suggests.csv"),
    ("Enhances", "ENHANCES", "enhances.csv"),
    ("Provides", "PROVIDES", "provides.csv"),
    ("Conflicts", "CONFLICTS", "conflicts.csv"),
    ("Breaks", "BREAKS", "breaks.csv"),
    ("Replaces", "REPLACES", "replaces.csv"),
];
const RELATION_HEADER: &[&str] = &[
    ":START_ID(Package)",
    ":END_ID(Package)",
    "clause:int",
    "alternative:int",
    "version:string",
    "architecture:string",
];
const PACKAGE_HEADER: &[&str] = &[
    "name:ID(Package)",
    "version:string",
    "architecture:string",
    "installed_size:long",
    "priority:string",
    "essential:boolean",
    "summary:string",
    "homepage:string",
];

/// Reads all stanzas and writes the files; how to load them.
pub(super) fn write(text: &mut impl BufRead, folder: &Path) -> Result<LoadPlan, Failure> {
    let mut files = Files::create(folder)?;
    let mut stanza = Stanza::default();
    while stanza.read(text).map_err(apt::unreadable)? {
        files.add(&stanza)?;
    }
    if files.packages.rows == 0 {
        return Err(apt::empty());
    }
    files.finish(folder)
}

/// A CSV file that is being written.
struct Csv {
    path: PathBuf,
    writer: csv::Writer<File>,
    /// Rows behind the header.
    rows: u64,
}

impl Csv {
    fn create(path: PathBuf, header: &[&str]) -> Result<Self, Failure> {
        let writer = csv::WriterBuilder::new().buffer_capacity(1 << 16).from_path(&path);
        let writer = writer.map_err(|error| failed(&path, error))?;
        let mut file = Self { path, writer, rows: 0 };
        file.record(header)?;
        Ok(file)
    }

    fn record(&mut self, fields: &[&str]) -> Result<(), Failure> {
        self.writer.write_record(fields).map_err(|error| failed(&self.path, error))
    }

    fn row(&mut self, fields: &[&str]) -> Result<(), Failure> {
        self.rows += 1;
        self.record(fields)
    }

    fn finish(mut self) -> Result<PathBuf, Failure> {
        self.writer.flush().map_err(|error| failed(&self.path, error.into()))?;
        Ok(self.path)
    }
}

fn failed(path: &Path, error: csv::Error) -> Failure {
    Failure::io(format!("write {}", path.display()), error.into())
}

/// All files, and the names seen so far.
struct Files {
    packages: Csv,
    /// As [`RELATIONS`].
    relations: Vec<Csv>,
    maintained_by: Csv,
    in_section: Csv,
    /// Whether the lists have a package of the name.
    names: HashMap<String, bool>,
    /// Names by address.
    maintainers: BTreeMap<String, String>,
    sections: BTreeSet<String>,
}

impl Files {
    fn create(folder: &Path) -> Result<Self, Failure> {
        let csv = |name: &str, header| Csv::create(folder.join(name), header);
        let relations = RELATIONS.iter().map(|(_, _, name)| csv(name, RELATION_HEADER));
        Ok(Self {
            packages: csv("packages.csv", PACKAGE_HEADER)?,
            relations: relations.collect::<Result<_, _>>()?,
            maintained_by: csv(
                "maintained_by.csv",
                &[":START_ID(Package)", ":END_ID(Maintainer)"],
            )?,
            in_section: csv("in_section.csv", &[":START_ID(Package)", ":END_ID(Section)"])?,
            names: HashMap::new(),
            maintainers: BTreeMap::new(),
            sections: BTreeSet::new(),
        })
    }

    fn add(&mut self, stanza: &Stanza) -> Result<(), Failure> {
        let Some(name) = stanza.line("Package") else { return Ok(()) };
        if self.names.insert(name.to_owned(), true) == Some(true) {
            return Ok(());
        }
        let line = |field| stanza.line(field).unwrap_or_default();
        let size = line("Installed-Size");
        self.packages.row(&[
            name,
            line("Version"),
            line("Architecture"),
            size.parse::<i64>().map_or("", |_| size),
            line("Priority"),
            if line("Essential") == "yes" { "true" } else { "" },
            line("Description"),
            line("Homepage"),
        ])?;
        for ((field, _, _), file) in RELATIONS.iter().zip(&mut self.relations) {
            for relation in relations(stanza.field(field).unwrap_or_default()) {
                if !self.names.contains_key(relation.name) {
                    self.names.insert(relation.name.to_owned(), false);
                }
                relation_row(file, name, &relation)?;
            }
        }
        if let Some(text) = stanza.line("Maintainer") {
            let (maintainer, address) = maintainer(text);
            self.maintained_by.row(&[name, &address])?;
            self.maintainers.entry(address).or_insert_with(|| maintainer.to_owned());
        }
        if let Some(section) = stanza.line("Section") {
            self.in_section.row(&[name, section])?;
            self.sections.insert(section.to_owned());
        }
        Ok(())
    }

    /// Writes what is known at the end only.
    fn finish(self, folder: &Path) -> Result<LoadPlan, Failure> {
        let mut virtual_packages =
            Csv::create(folder.join("virtual_packages.csv"), &["name:ID(Package)"])?;
        let names: BTreeMap<String, bool> = self.names.into_iter().collect();
        for (name, _) in names.iter().filter(|(_, available)| !**available) {
            virtual_packages.row(&[name])?;
        }
        let header = ["email:ID(Maintainer)", "name:string"];
        let mut maintainers = Csv::create(folder.join("maintainers.csv"), &header)?;
        for (address, name) in &self.maintainers {
            maintainers.row(&[address, name])?;
        }
        let mut sections = Csv::create(folder.join("sections.csv"), &["name:ID(Section)"])?;
        for section in &self.sections {
            sections.row(&[section])?;
        }
        let nodes = [
            ("Package", self.packages),
            ("VirtualPackage", virtual_packages),
            ("Maintainer", maintainers),
            ("Section", sections),
        ];
        let types = RELATIONS.iter().map(|(_, relationship_type, _)| *relationship_type);
        let relationships = types
            .zip(self.relations)
            .chain([("MAINTAINED_BY", self.maintained_by), ("IN_SECTION", self.in_section)]);
        plan(nodes, relationships)
    }
}

fn relation_row(file: &mut Csv, start: &str, relation: &Relation<'_>) -> Result<(), Failure> {
    file.row(&[
        start,
        relation.name,
        &relation.clause.to_string(),
        &relation.alternative.to_string(),
        relation.version.as_deref().unwrap_or_default(),
        relation.architecture.unwrap_or_default(),
    ])
}

/// Name and address of `Name <address>`, of several the first; where there is no address, the name stands for it.
fn maintainer(text: &str) -> (&str, String) {
    let (name, rest) = text.split_once('<').unwrap_or((text, ""));
    let name = name.trim();
    // Some quote their name, some all of it.
    let name = name.strip_prefix('"').map_or(name, |name| name.trim_end_matches('"'));
    let address = rest.split('>').next().unwrap_or_default().trim();
    (name, if address.is_empty() { name } else { address }.to_lowercase())
}

fn plan(
    nodes: [(&str, Csv); 4],
    relationships: impl Iterator<Item = (&'static str, Csv)>,
) -> Result<LoadPlan, Failure> {
    let keys = ["name", "name", "email", "name"];
    // An index over nothing is refused: not every list has virtual packages.
    let indexes = nodes.iter().zip(keys).filter(|((_, file), _)| file.rows > 0);
    let indexes = indexes.map(|((label, _), key)| IndexFor {
        label: (*label).into(),
        property: key.into(),
        unique: true,
    });
    let indexes = indexes.collect();
    let nodes = nodes.into_iter().map(|(label, file)| {
        Ok(NodeFiles { labels: vec![label.into()], files: vec![file.finish()?] })
    });
    let relationships = relationships.map(|(relationship_type, file)| {
        Ok(RelationshipFiles {
            relationship_type: Some(relationship_type.into()),
            files: vec![file.finish()?],
        })
    });
    Ok(LoadPlan {
        nodes: nodes.collect::<Result<_, Failure>>()?,
        relationships: relationships.collect::<Result<_, Failure>>()?,
        indexes,
        ..LoadPlan::default()
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn rows_are_what_the_stanzas_say() {
        let folder = tempfile::tempdir().unwrap();
        let mut text: &[u8] = b"Package: a\nVersion: 1:2\nArchitecture: all\nInstalled-Size: 7\n\
            Maintainer: Ada, the \"first\" <Ada@Example.org>\nSection: contrib/x\nEssential: yes\n\
            Description: says \"a\", b\n more\nDepends: b (>= 2) | v, b:any\nProvides: v (= 1)\n\n\
            Version: 3\n\nPackage: b\nInstalled-Size: many\nMaintainer: Ada L <ada@example.org>\n\
            Breaks: gone (<< 2)\n\nPackage: a\nVersion: 9\nDepends: nothing\n";
        write(&mut text, folder.path()).unwrap();
        let rows = |name: &str| {
            let text = fs::read_to_string(folder.path().join(name)).unwrap();
            text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        let packages = ["a,1:2,all,7,,true,\"says \"\"a\"\", b\",", "b,,,,,,,"];
        assert_eq!(rows("packages.csv"), packages);
        assert_eq!(rows("virtual_packages.csv"), ["gone", "v"]);
        assert_eq!(rows("depends.csv"), ["a,b,1,1,>= 2,", "a,v,1,2,,", "a,b,2,1,,any"]);
        assert_eq!(rows("provides.csv"), ["a,v,1,1,= 1,"]);
        assert_eq!(rows("breaks.csv"), ["b,gone,1,1,<< 2,"]);
        assert_eq!(rows("maintainers.csv"), ["ada@example.org,\"Ada, the \"\"first\"\"\""]);
        assert_eq!(rows("maintained_by.csv"), ["a,ada@example.org", "b,ada@example.org"]);
        assert_eq!(rows("in_section.csv"), ["a,contrib/x"]);
        assert!(rows("recommends.csv").is_empty());
    }

    #[test]
    fn a_text_without_packages_is_no_list() {
        let folder = tempfile::tempdir().unwrap();
        let failure = write(&mut &b"Version: 1\n\nnonsense\n"[..], folder.path()).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert_eq!(maintainer("\"A\" <a@x>, B <b@x>"), ("A", "a@x".into()));
        assert_eq!(maintainer("Nobody"), ("Nobody", "nobody".into()));
        assert_eq!(maintainer("No Address <>"), ("No Address", "no address".into()));
    }
}
