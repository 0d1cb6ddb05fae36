//! `hop walk`: counts by hand on a small graph, starts of every type, names that are wrong.

use crate::program::{Folder, friends};

/// a -> b, a -> c, a -> a, b -> d, c -> d twice, d -> a (type BACK).
fn diamond() -> Folder {
    let folder = Folder::with(&[
        (
            "n.csv",
            "id:ID,i:int,f:float,b:boolean,d:date,s:string,same\n\
            a,42,1.5,true,2024-02-29,42,x\nb,,,,,,x\nc,,,,,,\nd,43,2.0,false,2024-03-01,z,\n",
        ),
        ("r.csv", ":START_ID,:END_ID,:TYPE\na,b,R\na,c,R\na,a,R\nb,d,R\nc,d,R\nc,d,R\nd,a,BACK\n"),
    ]);
    folder.hop_ok("load d.hop --nodes=N=n.csv --relationships=r.csv --index N.id");
    folder
}

/// (relationships, nodes, new nodes) by hop.
fn hops(folder: &Folder, args: &str) -> Vec<[u64; 3]> {
    let walk = folder.json(&format!("walk d.hop --json {args}"));
    let number = |hop: &serde_json::Value, key: &str| hop[key].as_u64().unwrap();
    let hops = walk["hops"].as_array().unwrap().iter();
    hops.map(|hop| ["relationships", "nodes", "new_nodes"].map(|key| number(hop, key))).collect()
}

#[test]
fn hops_are_counted_in_every_direction() {
    let folder = diamond();
    for (args, expected) in [
        ("--from N.id=a --hops 3", &[[3, 3, 2], [6, 4, 1], [7, 4, 0]][..]),
        ("--from N.id=a --hops 1 --direction in", &[[2, 2, 1]]),
        ("--from N.id=a --hops 1 --direction both", &[[4, 4, 3]]),
        ("--from N.id=d --hops 2 --type R", &[[0, 0, 0], [0, 0, 0]]),
        ("--from N.id=d --hops 2 --type R --direction in", &[[3, 2, 2], [2, 1, 1]]),
        ("--from N.id=d --hops 1 --cache-bytes 1", &[[1, 1, 1]]),
    ] {
        assert_eq!(hops(&folder, args), expected, "{args}");
    }
}

#[test]
fn json_has_one_shape() {
    let folder = diamond();
    let out = folder.hop_ok("walk d.hop --from N.id=b --hops 2 --json").out;
    let start = r#"{"hops":[{"relationships":1,"nodes":1,"new_nodes":1},{"relationships":1,"nodes":1,"new_nodes":1}],"page_reads":"#;
    let rest = out.strip_prefix(start).unwrap_or_else(|| panic!("{out}"));
    let (reads, rest) = rest.split_once(r#","micros":"#).unwrap();
    assert!(reads.parse::<u64>().is_ok());
    assert!(rest.strip_suffix("}\n").unwrap().parse::<u64>().is_ok());
}

#[test]
fn text_is_a_table() {
    let out = diamond().hop_ok("walk d.hop --from N.id=a --hops 2").out;
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "from (:N {id: 'a', i: 42, f: 1.5, b: true, …})");
    assert_eq!(lines[2], "  hop  relationships       nodes   new nodes");
    assert_eq!(lines[3], "    1              3           3           2");
    assert!(lines[6].ends_with(" read"), "{out}");
}

#[test]
fn a_start_is_found_by_values_of_every_type() {
    let folder = diamond();
    for from in ["i=42", "i=42.0", "f=1.5", "b=TRUE", "d=2024-02-29", "s=42", "id=a"] {
        let [first, _] = hops(&folder, &format!("--from N.{from} --hops 2"))[..] else { panic!() };
        assert_eq!(first, [3, 3, 2], "{from}");
    }
    let texts = ["2 nodes :N have same = x", "hint: name one node, by a property"];
    folder.fails("walk d.hop --from N.same=x --hops 1", 2, &texts);
    folder.fails("walk d.hop --from N.id=e --hops 1", 1, &["no node :N has id = e"]);
}

#[test]
fn wrong_names_are_told_with_near_ones() {
    let folder = friends();
    for (args, texts) in [
        ("--from Persn.id=1 --hops 1", ["no label \"Persn\"", "did you mean \"Person\"?"]),
        ("--from Person.nmae=1 --hops 1", ["no property \"nmae\"", "its properties: id, name"]),
        ("--from Person.id=1 --hops 1 --type FREIND", ["type \"FREIND\"", "mean \"FRIEND\"?"]),
        ("--from Person --hops 1", ["write Label.property=value", "Person.id=42"]),
        ("--from Person.id=1 --hops 0", ["--hops", "0"]),
        ("--from Person.id=1 --hops 1 --cache-bytes 1KB", ["\"1KB\" is no size", "64KiB"]),
        ("--hops 1", ["--from", "required"]),
    ] {
        folder.fails(&format!("walk friends.hop {args}"), 2, &texts);
    }
}
