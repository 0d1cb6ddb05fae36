//! Headers as files have them, and what is said about wrong ones.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::value::CoordinateType;
use crate::value::point::PointParts;
use crate::value::temporal::Zone;

fn parse(kind: FileKind, line: &str) -> Result<Header, LoadError> {
    let fields = line.split('|').map(str::as_bytes);
    Header::parse(kind, Path::new("f.csv"), fields, IdType::String)
}

fn nodes(line: &str) -> Header {
    parse(FileKind::Nodes, line).unwrap()
}

fn relationships(line: &str) -> Header {
    parse(FileKind::Relationships, line).unwrap()
}

fn refused(kind: FileKind, line: &str) -> String {
    parse(kind, line).unwrap_err().to_string()
}

/// The type of a property `x` of this type text.
fn type_of(text: &str) -> ColumnType {
    nodes(&format!("x:{text}")).columns[0].column_type.clone()
}

fn indexes<'h>(columns: impl Iterator<Item = &'h Column>) -> Vec<usize> {
    columns.map(|column| column.index).collect()
}

#[test]
fn a_node_header_is_read() {
    let header = nodes("\u{feff}id:ID(Person)|name|age:INT|tags:string[]|:LABEL|junk:IGNORE\r");
    let roles: Vec<_> = header.columns.iter().map(|column| column.role.clone()).collect();
    assert_eq!(
        roles,
        [
            Role::Id { space: "Person".into(), property: Some("id".into()), label: None },
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
    assert_eq!(header.columns[3].column_type, ColumnType::array_of(Scalar::String));
    assert_eq!(indexes(header.ids()), [0]);
    assert_eq!(header.untyped().count(), 0);
    assert_eq!(header.label().map(|column| column.index), Some(4));
    let names: Vec<_> = header.properties().map(|(_, name)| name).collect();
    assert_eq!(names, ["id", "name", "age", "tags"]);
}

#[test]
fn a_relationship_header_is_read() {
    let header = relationships(":start_id(A)|:END_ID|:TYPE|since:date");
    let (space, property, label) = ("A".into(), None, None);
    assert_eq!(header.columns[0].role, Role::StartId { space, property, label });
    let (space, property, label) = (String::new(), None, None);
    assert_eq!(header.columns[1].role, Role::EndId { space, property, label });
    assert_eq!(indexes(header.start_ids()), [0]);
    assert_eq!(indexes(header.end_ids()), [1]);
    assert_eq!(header.type_column().map(|column| column.index), Some(2));
}

#[test]
fn every_type_is_known() {
    for (text, scalar) in [
        ("byte", Scalar::Integer { bytes: 1 }),
        ("Short", Scalar::Integer { bytes: 2 }),
        ("int", Scalar::Integer { bytes: 4 }),
        ("LONG", Scalar::Integer { bytes: 8 }),
        ("integer", Scalar::Integer { bytes: 8 }),
        ("float", Scalar::Float),
        ("double", Scalar::Float),
        ("boolean", Scalar::Boolean),
        ("bool", Scalar::Boolean),
        ("char", Scalar::Char),
        ("string", Scalar::String),
        ("bytes", Scalar::Bytes),
        ("date", Scalar::Date),
        ("time", Scalar::Time),
        ("localtime", Scalar::LocalTime),
        ("datetime", Scalar::DateTime),
        ("LocalDateTime", Scalar::LocalDateTime),
        ("duration", Scalar::Duration),
        ("point", Scalar::Point),
    ] {
        assert_eq!(type_of(text), ColumnType::of(scalar), "{text}");
        assert_eq!(type_of(&format!("{text}[]")), ColumnType::array_of(scalar), "{text}[]");
        assert_eq!(text.parse(), Ok(ColumnType::of(scalar)));
        assert_eq!(Scalar::of_name(scalar.name()), Some(scalar));
    }
    assert!(type_of("byte[]").is_byte_array());
    assert_eq!(type_of("Any"), ColumnType::of(Scalar::Any));
}

#[test]
fn options_are_read() {
    let options = |text: &str| type_of(text).options;
    assert_eq!(options("datetime{timezone:+01:00}"), TypeOptions::Zone(Zone::Offset(3600)));
    assert_eq!(options("time{ TimeZone : '-00:30' }"), TypeOptions::Zone(Zone::Offset(-1800)));
    let named = TypeOptions::Zone("Europe/Stockholm".parse().unwrap());
    assert_eq!(options("datetime{timezone:Europe/Stockholm}"), named);
    let mut parts = PointParts::default();
    parts.set("crs", "wgs-84").unwrap();
    assert_eq!(options("point{crs:WGS-84}"), TypeOptions::Point(parts.into()));
    let vector = TypeOptions::Vector { coordinate_type: CoordinateType::Float32, dimensions: 3 };
    assert_eq!(options("vector{coordinateType:float,dimensions:3}"), vector);
    assert_eq!(options("vector{dimensions: 3, coordinatetype: FLOAT32}"), vector);
    assert_eq!(type_of("vector{coordinateType:float,dimensions:3}[]").options, vector);
    let zoned = type_of("datetime[]{timezone:Z}");
    assert_eq!(zoned.options, TypeOptions::Zone(Zone::UTC));
    assert!(zoned.array);
    assert_eq!("datetime{timezone:Z}[]".parse(), Ok(zoned));
}

#[test]
fn ids_have_options_of_their_own() {
    let long = ColumnType::of(Scalar::Integer { bytes: 8 });
    let header = nodes("id:ID(P){id-type:long, label:Person}|name");
    let (space, property, label) = ("P".into(), Some("id".into()), Some("Person".into()));
    assert_eq!(header.columns[0].role, Role::Id { space, property, label });
    assert_eq!(header.columns[0].column_type, long);
    let header = relationships("id:START_ID{label:Person}|:END_ID:int|:TYPE");
    let (space, property, label) = (String::new(), Some("id".into()), Some("Person".into()));
    assert_eq!(header.columns[0].role, Role::StartId { space, property, label });
    let (space, property, label) = (String::new(), None, None);
    assert_eq!(header.columns[1].role, Role::EndId { space, property, label });
    let fields = || ["a:ID", "b:ID{id-type:string}", "c"].map(str::as_bytes);
    for (text, wanted) in
        [("string", ColumnType::STRING), ("INTEGER", long.clone()), ("actual", long.clone())]
    {
        let id_type = text.parse().unwrap();
        let header = Header::parse(FileKind::Nodes, Path::new("f.csv"), fields(), id_type).unwrap();
        let types: Vec<_> = header.columns.iter().map(|column| &column.column_type).collect();
        assert_eq!(types, [&wanted, &ColumnType::STRING, &ColumnType::STRING], "{text}");
    }
    assert!("int".parse::<IdType>().unwrap_err().contains("use string, integer or actual"));
}

#[test]
fn several_columns_make_one_id() {
    let header = nodes("personId:ID(G)|memberId:ID(G)|name");
    assert_eq!(indexes(header.ids()), [0, 1]);
    let names: Vec<_> = header.properties().map(|(_, name)| name).collect();
    assert_eq!(names, ["personId", "memberId", "name"]);
    let header = relationships(":START_ID(G)|:END_ID|:START_ID(G)|:TYPE|:END_ID");
    assert_eq!(indexes(header.start_ids()), [0, 2]);
    assert_eq!(indexes(header.end_ids()), [1, 4]);
}

#[test]
fn a_property_may_have_several_types() {
    let header = nodes(":ID|age:int|age:string|age:int[]");
    let names: Vec<_> = header.properties().map(|(column, name)| (column.index, name)).collect();
    assert_eq!(names, [(1, "age"), (2, "age"), (3, "age")]);
}

#[test]
fn colons_and_parentheses_may_be_in_names() {
    assert_eq!(nodes("ns:age:int").columns[0].role, Role::Property("ns:age".into()));
    assert_eq!(nodes("height (cm)").columns[0].role, Role::Property("height (cm)".into()));
    assert_eq!(nodes("x{y}|tags[]").columns[0].role, Role::Property("x{y}".into()));
    let space = Role::Id { space: "a:b".into(), property: None, label: None };
    assert_eq!(nodes(":ID(a:b)").columns[0].role, space);
}

#[test]
fn any_name_may_stand_in_backquotes() {
    let role = |text| nodes(text).columns[0].role.clone();
    let property = |name: &str| Role::Property(name.into());
    assert_eq!(role("`a:b`:long[]"), property("a:b"));
    assert_eq!(role("` a:ID(x)`"), property(" a:ID(x)"));
    assert_eq!(role("```\\n\\\\``` : int"), property("`\n\\`"));
    assert_eq!(role("a`b`:int"), property("a`b`"));
    assert_eq!(nodes("`a`:long[]").columns[0].column_type, type_of("long[]"));
    let id = Role::Id { space: "S".into(), property: Some("x:int".into()), label: None };
    assert_eq!(role("`x:int`:ID(S)"), id);
}

#[test]
fn vectors_of_several_types_may_share_a_name() {
    let of = |coordinates: &str, length| {
        format!("v:vector{{coordinateType:{coordinates}, dimensions:{length}}}")
    };
    let header = nodes(&[of("int", 2), of("int", 3), of("float", 2)].join("|"));
    assert_eq!(header.properties().count(), 3);
    let twice = refused(FileKind::Nodes, &[of("int", 2), of("int", 2)].join("|"));
    assert!(twice.contains("the property v is column 1 already"), "{twice}");
}

#[test]
fn wrong_columns_are_named_with_a_way_out() {
    for (kind, line, wanted) in [
        (FileKind::Nodes, "x:nonsense", "\"nonsense\" is not a type; use byte"),
        (FileKind::Nodes, "`x:int", "the backquote at the start of `x:int is not closed"),
        (FileKind::Nodes, "`x`y:int", "stands \"y:int\", not a colon"),
        (FileKind::Nodes, "`x`:y:int", "stands \":y:int\", not one type"),
        (FileKind::Nodes, "x:any[]", "any is one value, a list as well; leave out the []"),
        (FileKind::Nodes, "x:any{a:b}", "any: the type takes no options: {a:b}"),
        (FileKind::Nodes, "x:int(A)", "goes with ID, START_ID and END_ID, not with INT"),
        (FileKind::Nodes, ":ID(A)[]", "ID is one value; leave out the []"),
        (FileKind::Nodes, ":ID{id-type:date}", "\"date\" is no type of ids; use string, int"),
        (
            FileKind::Nodes,
            ":ID{lable:A}",
            "ID: \"lable\" is no option here; there is label, id-type",
        ),
        (FileKind::Nodes, ":ID{label}", "ID: \"label\" has no value; write label: value"),
        (FileKind::Nodes, ":LABEL{a:b}", "LABEL takes no options; leave out {a:b}"),
        (FileKind::Nodes, "x:int{a:b}", "int: the type takes no options: {a:b}"),
        (FileKind::Nodes, "x:datetime{zone:Z}", "\"zone\" is no option here; there is timezone"),
        (FileKind::Nodes, "x:datetime{timezone:Mars/Sea}", "write the offset, as in +01:00"),
        (FileKind::Nodes, "x:time{timezone:Europe/London}", "write the offset, as in {timezone"),
        (FileKind::Nodes, "x:point{crs:moon}", "point: \"moon\" is no coordinate system; use"),
        (FileKind::Nodes, "x:vector", "vector: say what it holds, as in vector{coordinateType"),
        (FileKind::Nodes, "x:vector{dimensions:3}", "say what it holds"),
        (
            FileKind::Nodes,
            "x:vector{dimensions:0,coordinateType:int}",
            "its dimensions are \"0\", of 1 to 4096",
        ),
        (FileKind::Nodes, "x:vector{coordinateType:text}", "\"text\" is no type of coordinates"),
        (FileKind::Nodes, "a|", "column 2: the column has no name"),
        (FileKind::Nodes, ":int", "the column has no name"),
        (
            FileKind::Nodes,
            "a|b|a:string",
            "column 3 (a:string): the property a is column 1 already",
        ),
        (FileKind::Nodes, "a:ID|a:int", "the property a is column 1 already"),
        (FileKind::Nodes, "a:ID|a", "the property a is column 1 already"),
        (
            FileKind::Nodes,
            ":ID(A)|x:ID(B)",
            "column 2 (x:ID(B)): the id space is \"B\", that of column 1 is \"A\"; several :ID columns",
        ),
        (FileKind::Nodes, ":ID(A)|x:ID", "the id space is none, that of column 1 is \"A\""),
        (FileKind::Nodes, ":ID{label:A}|:ID{label:B}", "the label is \"B\", that of column 1 is"),
        (FileKind::Nodes, ":LABEL|:LABEL", ":LABEL is column 1 already; make one of them :IGNORE"),
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
    let error =
        Header::parse(FileKind::Nodes, Path::new("f.csv"), latin, IdType::String).unwrap_err();
    assert!(error.to_string().contains("not UTF-8"), "{error}");
}

fn plain(kind: FileKind, line: &str, plain: &PlainColumns) -> Result<Header, String> {
    let names = line.split('|').map(str::as_bytes);
    Header::from_names(kind, Path::new("f.csv"), names, plain, IdType::String)
        .map_err(|error| error.to_string())
}

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(String::from).to_vec()
}

#[test]
fn plain_headers_are_told_from_others() {
    let is_plain = |line: &str| is_plain(line.split('|').map(str::as_bytes));
    assert!(is_plain("id|name|ns:thing|tags[]|height (cm)"));
    assert!(is_plain(""));
    for line in [
        ":ID|name",
        "name|age:int",
        "\u{feff}:LABEL",
        "x:IGNORE",
        "x:vector{coordinateType:byte,dimensions:3}",
        "a:point[]",
        ":start_id(A)",
    ] {
        assert!(!is_plain(line), "{line}");
    }
}

#[test]
fn plain_nodes_get_their_meaning_from_the_user() {
    let said = PlainColumns {
        id: names(["id"]),
        id_space: "P".into(),
        labels: Some("kind".into()),
        types: vec![
            ("born".into(), "datetime{timezone:+01:00}".into()),
            ("id".into(), "long".into()),
        ],
        ignored: names(["junk"]),
        ..PlainColumns::default()
    };
    let mut header = plain(FileKind::Nodes, "\u{feff}id|a:int|kind|born|junk", &said).unwrap();
    let roles: Vec<_> = header.columns.iter().map(|column| column.role.clone()).collect();
    assert_eq!(
        roles,
        [
            Role::Id { space: "P".into(), property: Some("id".into()), label: None },
            Role::Property("a:int".into()),
            Role::Label,
            Role::Property("born".into()),
            Role::Ignore,
        ]
    );
    assert_eq!(header.columns[0].column_type, ColumnType::of(Scalar::Integer { bytes: 8 }));
    assert_eq!(header.columns[1].column_type, ColumnType::STRING);
    assert_eq!(header.columns[2].column_type, ColumnType::array_of(Scalar::String));
    assert_eq!(header.columns[3].column_type.scalar, Scalar::DateTime);
    assert_eq!(indexes(header.untyped()), [1]);
    header.set_type(1, Scalar::Float);
    assert_eq!(header.columns[1].column_type, ColumnType::of(Scalar::Float));
    assert_eq!(header.untyped().count(), 0);
}

#[test]
fn plain_relationships_have_named_ends() {
    let said = PlainColumns {
        from: names(["a", "b"]),
        to: names(["c"]),
        to_space: "Q".into(),
        relationship_type: Some("kind".into()),
        ..PlainColumns::default()
    };
    let header = plain(FileKind::Relationships, "c|a|b|kind|weight", &said).unwrap();
    assert_eq!(indexes(header.start_ids()), [1, 2]);
    assert_eq!(indexes(header.end_ids()), [0]);
    assert_eq!(header.type_column().map(|column| column.index), Some(3));
    assert_eq!(header.properties().map(|(_, name)| name).collect::<Vec<_>>(), ["weight"]);
}

#[test]
fn plain_columns_that_make_no_sense_are_named() {
    let id = |name| PlainColumns { id: names([name]), ..PlainColumns::default() };
    let typed = |name: &str, text: &str| PlainColumns {
        types: vec![(name.into(), text.into())],
        ..id("a")
    };
    for (said, line, wanted) in [
        (id("x"), "a|b", "f.csv:1: there is no column \"x\"; there are a, b"),
        (id("a"), "a|", "f.csv:1: column 2: the column has no name; give it one in the file"),
        (id("a"), "a|b|b", "f.csv:1: column 3 (b): the property b is column 2 already"),
        (
            PlainColumns { labels: Some("a".into()), ..id("a") },
            "a",
            "f.csv:1: column 1 (a): the column a is to be two things at once",
        ),
        (typed("b", "number"), "a|b", "f.csv:1: column 2 (b): \"number\" is not a type"),
        (typed("a", "date"), "a", "an id is a string or an integer; leave out the type date"),
        (typed("x", "date"), "a", "there is no column \"x\""),
    ] {
        let error = plain(FileKind::Nodes, line, &said).unwrap_err();
        assert!(error.starts_with("f.csv:1: ") && error.contains(wanted), "{line}: {error}");
    }
    let error = plain(FileKind::Relationships, "a|b", &PlainColumns::default()).unwrap_err();
    assert!(error.contains("say which columns hold the start"), "{error}");
}

proptest! {
    #[test]
    fn any_fields_are_read_or_refused(
        fields in vec(vec(prop_oneof![any::<u8>(), prop::sample::select(&b":(){}[]aID,'+"[..])], 0..12), 0..6),
    ) {
        let fields = || fields.iter().map(Vec::as_slice);
        for kind in [FileKind::Nodes, FileKind::Relationships] {
            let plain = PlainColumns::default();
            if let Ok(header) =
                Header::from_names(kind, Path::new("f"), fields(), &plain, IdType::String)
            {
                prop_assert_eq!(header.columns.len(), fields().count());
            }
            if let Ok(header) = Header::parse(kind, Path::new("f"), fields(), IdType::String) {
                prop_assert_eq!(header.columns.len(), fields().count());
            }
        }
    }
}
