//! Headers as files have them, and what is said about wrong ones.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn parse(kind: FileKind, line: &str) -> Result<Header, LoadError> {
    Header::parse(kind, Path::new("f.csv"), line.split('|').map(str::as_bytes), b';')
}

fn nodes(line: &str) -> Header {
    parse(FileKind::Nodes, line).unwrap()
}

fn refused(kind: FileKind, line: &str) -> String {
    parse(kind, line).unwrap_err().to_string()
}

#[test]
fn a_node_header_is_read() {
    let header = nodes("\u{feff}id:ID(Person)|name|age:INT|tags:string[]|:LABEL|junk:IGNORE\r");
    let roles: Vec<_> = header.columns.iter().map(|column| column.role.clone()).collect();
    assert_eq!(
        roles,
        [
            Role::Id { space: "Person".into(), property: Some("id".into()) },
            Role::Property("name".into()),
            Role::Property("age".into()),
            Role::Property("tags".into()),
            Role::Label,
            Role::Ignore,
        ]
    );
    assert_eq!(header.columns[0].text, "id:ID(Person)");
    assert_eq!(header.columns[1].column_type, ColumnType::STRING);
    assert_eq!(header.columns[2].column_type.scalar, Scalar::Integer { bytes: 4 });
    assert_eq!(header.columns[3].column_type.array_delimiter, Some(b';'));
    assert_eq!(header.id().map(|column| column.index), Some(0));
    assert_eq!(header.label().map(|column| column.index), Some(4));
    let names: Vec<_> = header.properties().map(|(_, name)| name).collect();
    assert_eq!(names, ["id", "name", "age", "tags"]);
}

#[test]
fn a_relationship_header_is_read() {
    let header = parse(FileKind::Relationships, ":start_id(A)|:END_ID|:TYPE|since:date").unwrap();
    assert_eq!(header.start_id().unwrap().role, Role::StartId { space: "A".into() });
    assert_eq!(header.end_id().unwrap().role, Role::EndId { space: String::new() });
    assert_eq!(header.type_column().map(|column| column.index), Some(2));
}

#[test]
fn colons_and_parentheses_may_be_in_names() {
    assert_eq!(nodes("ns:age:int").columns[0].role, Role::Property("ns:age".into()));
    assert_eq!(nodes("height (cm)").columns[0].role, Role::Property("height (cm)".into()));
    let space = Role::Id { space: "a:b".into(), property: None };
    assert_eq!(nodes(":ID(a:b)").columns[0].role, space);
}

#[test]
fn wrong_columns_are_named_with_a_way_out() {
    for (kind, line, wanted) in [
        (FileKind::Nodes, "a|x:point", "f.csv:1: column 2 (x:point): the type point is not supp"),
        (FileKind::Nodes, "x:LocalTime[]", "LocalTime is not supported yet; load it as string"),
        (FileKind::Nodes, "x:nonsense", "\"nonsense\" is not a type; use byte"),
        (FileKind::Nodes, "x:int(A)", "goes with ID, START_ID and END_ID, not with INT"),
        (FileKind::Nodes, ":ID(A){id-type:int}", "write :ID(A) without {id-type:int}"),
        (FileKind::Nodes, "a|", "column 2: the column has no name"),
        (FileKind::Nodes, ":int", "the column has no name"),
        (FileKind::Nodes, "a|b|a:int", "the property a is column 1 already"),
        (FileKind::Nodes, "a:ID|a", "the property a is column 1 already"),
        (FileKind::Nodes, ":ID(A)|x:ID(B)", ":ID is column 1 already; make one of them :IGNORE"),
        (FileKind::Nodes, ":START_ID", "load this file with --relationships"),
        (FileKind::Relationships, ":START_ID|:END_ID|:LABEL", "load this file with --nodes"),
        (FileKind::Relationships, ":START_ID|to", "the header has no :END_ID column"),
        (FileKind::Relationships, "1|2", "the header has no :START_ID column"),
        (FileKind::Nodes, "a\rb", "lone carriage return"),
    ] {
        let said = refused(kind, line);
        assert!(said.contains(wanted), "{line}: {said}");
    }
    let latin = [&b"na\xefve"[..]];
    let error = Header::parse(FileKind::Nodes, Path::new("f.csv"), latin, b';').unwrap_err();
    assert!(error.to_string().contains("not UTF-8"), "{error}");
}

proptest! {
    #[test]
    fn any_fields_are_read_or_refused(
        fields in vec(vec(prop_oneof![any::<u8>(), prop::sample::select(&b":(){}[]aID"[..])], 0..12), 0..6),
    ) {
        let fields = || fields.iter().map(Vec::as_slice);
        for kind in [FileKind::Nodes, FileKind::Relationships] {
            if let Ok(header) = Header::parse(kind, Path::new("f"), fields(), b';') {
                prop_assert_eq!(header.columns.len(), fields().count());
            }
        }
    }
}
