//! Awkward files: what `hop load` makes of each, or the message to the letter.

use crate::program::{Folder, ran};

/// One command over files named `n.csv`, `m.csv`, `r.csv` by their place, and the message it must end with.
struct Wrong {
    files: &'static [&'static [u8]],
    args: &'static str,
    says: &'static str,
}

const NAMES: [&str; 3] = ["n.csv", "m.csv", "r.csv"];

fn folder(files: &[&[u8]]) -> Folder {
    let folder = Folder::new();
    NAMES.iter().zip(files).for_each(|(name, text)| folder.write(name, text));
    folder
}

/// Each must fail with its message, and leave nothing.
fn all_fail(cases: &[Wrong]) {
    for Wrong { files, args, says } in cases {
        let folder = folder(files);
        let before = folder.names();
        let ran = folder.hop(&format!("load x.hop {args}"));
        assert_eq!(ran.err.lines().next(), Some(&*format!("error: {says}")), "{args}");
        assert_eq!((ran.code, &*ran.out), (2, ""), "{args}");
        assert_eq!(folder.names(), before, "{args}");
    }
}

/// What a row of node `1` becomes, as `walk` shows it.
fn node(files: &[&[u8]], args: &str) -> String {
    let folder = folder(files);
    folder.hop_ok(&format!("load x.hop {args} --unique P.id"));
    let walk = folder.hop_ok("walk x.hop --from P.id=1 --hops 1").out;
    let first = walk.lines().next().unwrap();
    first.strip_prefix("from (:").unwrap().strip_suffix(')').unwrap().to_owned()
}

#[test]
fn rows_that_cannot_be_read() {
    all_fail(&[
        Wrong {
            files: &[b":ID,k\n1,2\n3\n"],
            args: "--nodes=n.csv",
            says: "n.csv:3: expected 2 columns, found 1; is the delimiter right?",
        },
        Wrong {
            files: &[b":ID,k,l\n1,2\n"],
            args: "--nodes=n.csv --ignore-extra-columns",
            says: "n.csv:2: expected 3 columns, found 2",
        },
        Wrong {
            files: &[b":ID\r\n\"a\r\n\r\nb\"\r\n\r\n1,2\r\n"],
            args: "--nodes=n.csv",
            says: "n.csv:6: expected 1 columns, found 2; --ignore-extra-columns leaves the \
                   further ones out",
        },
        Wrong {
            files: &[b":ID\n\"1,a\n2,b\n"],
            args: "--nodes=n.csv --bad-tolerance 9",
            says: "n.csv:2: a quote opened in this row is never closed",
        },
        Wrong {
            files: &[b":ID\n1\n2\n\"3"],
            args: "--nodes=n.csv --bad-tolerance 9",
            says: "n.csv:4: a quote opened in this row is never closed",
        },
        Wrong {
            files: &[b":ID,\"k\n"],
            args: "--nodes=n.csv",
            says: "n.csv:1: a quote opened in the first row is never closed",
        },
        Wrong {
            files: &[b":ID\n\"1\n2\n"],
            args: "--nodes=n.csv --multiline-fields=false",
            says: "n.csv:2: a quoted field runs over the end of the line, which \
                   --multiline-fields=false rules out; is a quote never closed?",
        },
        Wrong {
            files: &[b":ID\n1\n\"2"],
            args: "--nodes=n.csv --multiline-fields=false",
            says: "n.csv:3: a quoted field runs over the end of the line, which \
                   --multiline-fields=false rules out; is a quote never closed?",
        },
        Wrong {
            files: &[b":ID,k:int,k:string\n1,1,\n2,,x\n3,1,x\n"],
            args: "--nodes=n.csv",
            says: "n.csv:4: column 3 (k:string): an earlier column sets the same property in \
                   this row; fill only one of them",
        },
    ]);
}

#[test]
fn values_that_are_none() {
    let says = |of: &str, text: &str| {
        let folder = folder(&[format!("a:{of}\n{text}\n").as_bytes()]);
        let err = folder.hop("load x.hop --nodes=n.csv").err;
        let first = err.lines().next().unwrap();
        first.strip_prefix(&format!("error: n.csv:2: column 1 (a:{of}): ")).unwrap().to_owned()
    };
    for (of, text, wrong) in [
        (
            "byte",
            "128",
            "\"128\" is not a byte: it must lie between -128 and 127; the type long holds more",
        ),
        (
            "byte",
            "-129",
            "\"-129\" is not a byte: it must lie between -128 and 127; the type long holds more",
        ),
        (
            "short",
            "32768",
            "\"32768\" is not a short: it must lie between -32768 and 32767; the type long holds more",
        ),
        (
            "int",
            "2147483648",
            "\"2147483648\" is not an int: it must lie between -2147483648 and 2147483647; the type long holds more",
        ),
        (
            "long",
            "9223372036854775808",
            "\"9223372036854775808\" is not a long: it must lie between -9223372036854775808 and 9223372036854775807",
        ),
        (
            "long",
            "-9223372036854775809",
            "\"-9223372036854775809\" is not a long: it must lie between -9223372036854775808 and 9223372036854775807",
        ),
        ("int", "1.0", "\"1.0\" is not an int: character 2 is '.'"),
        ("boolean", "yes", "\"yes\" is not a boolean: write true or false"),
    ] {
        assert_eq!(says(of, text), wrong);
    }
}

#[test]
fn text_that_is_no_utf_8() {
    all_fail(&[
        Wrong {
            files: &[b"id:ID,k\n1,a\xff\n"],
            args: "--nodes=n.csv",
            says: "n.csv:2: column 2 (k): \"a\u{fffd}\" is not a string: byte 2 is not UTF-8; \
                   convert the file, for example with iconv",
        },
        Wrong {
            files: &[b"id:ID,:LABEL\n1,\xff\n"],
            args: "--nodes=n.csv",
            says: "n.csv:2: column 2 (:LABEL): it is not valid UTF-8; save the file as UTF-8",
        },
        Wrong {
            files: &[b":ID\n1\n", b":START_ID,:END_ID,:TYPE\n1,1,\xff\n"],
            args: "--nodes=n.csv --relationships=m.csv",
            says: "m.csv:2: column 3 (:TYPE): it is not valid UTF-8; save the file as UTF-8",
        },
        Wrong {
            files: &[b"\n\r\n:ID,\xff\n"],
            args: "--nodes=n.csv",
            says: "n.csv:3: column 2 (\u{fffd}): the header is not UTF-8; convert the file, for \
                   example with iconv",
        },
        Wrong {
            files: &[b"\xff\xfe:\0I\0D\0\n\0"],
            args: "--nodes=n.csv",
            says: "n.csv: it is UTF-16; convert it: iconv -f UTF-16 -t UTF-8",
        },
    ]);
}

#[test]
fn files_that_are_none() {
    let cases: &[Wrong] = &[
        Wrong {
            files: &[b""],
            args: "--nodes=n.csv",
            says: "n.csv: it is empty; leave it out, or check how it was made",
        },
        Wrong {
            files: &[b":ID\n", b""],
            args: "--nodes=n.csv,m.csv",
            says: "m.csv: it is empty; leave it out, or check how it was made",
        },
        Wrong {
            files: &[b"\n\r\n\n"],
            args: "--nodes=n.csv",
            says: "n.csv: it holds no header line; name the file with the header first",
        },
        Wrong {
            files: &[],
            args: "--nodes=.",
            says: ".: it is a directory; name the files in it, as in 'folder/*.csv'",
        },
        Wrong {
            files: &[],
            args: "--nodes=n.csv",
            says: "n.csv: there is no such file; is the path right?",
        },
        Wrong { files: &[], args: "--nodes=n*.csv", says: "n*.csv: no file fits" },
        Wrong {
            files: &[b":ID,k\r1,2\r3,4\r"],
            args: "--nodes=n.csv",
            says: "n.csv:1: column 2 (k\r1): the lines end with a lone carriage return; convert \
                   them to newlines",
        },
        Wrong {
            files: &[b":ID\n", b"file,line,column,reason,row\n"],
            args: "--nodes=m.csv",
            says: "m.csv: it is a file of rejected rows; mend the rows in it, repeat the load \
                   that wrote it, and name it with --again",
        },
    ];
    all_fail(cases);
    #[cfg(not(feature = "columnar"))]
    all_fail(&[Wrong {
        files: &[b"PAR1 and so on"],
        args: "--nodes=n.csv",
        says: "n.csv: it is a Parquet or Arrow file, which this build cannot read; build it with \
               the feature `columnar`",
    }]);
}

#[test]
fn headers_that_say_nothing_clear() {
    all_fail(&[
        Wrong {
            files: &[b"badge,age:int\n1,2\n"],
            args: "--nodes=n.csv --id-column badge",
            says: "n.csv:1: column 1 (badge): the header says types, so that --id-column says nothing \
                   of it; write badge:ID in the header, or leave the types to --types",
        },
        Wrong {
            files: &[b"{\"a\": 1}\n"],
            args: "--nodes=n.csv",
            says: "n.csv:1: it looks like JSON; one object on each line, in a file whose name ends in \
                   .jsonl, is read, but not from a pipe",
        },
        Wrong {
            files: &[b"\n\n:ID,k:integr\n"],
            args: "--nodes=n.csv",
            says: "n.csv:3: column 2 (k:integr): \"integr\" is not a type; use byte, short, int, \
                   long, float, double, boolean, char, string, bytes, date, time, localtime, \
                   datetime, localdatetime, duration, point, vector or any, with [] for an array, or \
                   rename the column if the colon belongs to its name",
        },
        Wrong {
            files: &[b":ID,:ID(x)\n"],
            args: "--nodes=n.csv",
            says: "n.csv:1: column 2 (:ID(x)): the id space is \"x\", that of column 1 is none; \
                   several :ID columns make one id together, so give them the same",
        },
        Wrong {
            files: &[b":LABEL,:LABEL\n"],
            args: "--nodes=n.csv",
            says: "n.csv:1: column 2 (:LABEL): :LABEL is column 1 already; make one of them \
                   :IGNORE",
        },
        Wrong {
            files: &[b":ID,:START_ID\n"],
            args: "--nodes=n.csv",
            says: "n.csv:1: column 2 (:START_ID): :START_ID belongs to relationships; load this \
                   file with --relationships",
        },
        Wrong {
            files: &[b":ID,\n"],
            args: "--nodes=n.csv",
            says: "n.csv:1: column 2: the column has no name; name it, or write :IGNORE to leave \
                   it out",
        },
        Wrong {
            files: &[b"a:int,a:int\n"],
            args: "--nodes=n.csv",
            says: "n.csv:1: column 2 (a:int): the property a is column 1 already; rename one of \
                   them or make it :IGNORE",
        },
        Wrong {
            files: &[b":ID{labl:P}\n"],
            args: "--nodes=n.csv",
            says: "n.csv:1: column 1 (:ID{labl:P}): ID: \"labl\" is no option here; there is \
                   label, id-type",
        },
    ]);
}

#[test]
fn columns_that_nobody_can_tell() {
    all_fail(&[
        Wrong {
            files: &[b"a,b\n1,2\n"],
            args: "--relationships=R=n.csv",
            says: "n.csv:1: the header has no :START_ID column; relationships need :START_ID and \
                   :END_ID, and the first line of a group's first file must be its header; of \
                   headers that are names alone say the columns: --from-column NAME --to-column \
                   NAME",
        },
        Wrong {
            files: &[b"a,b\n1,2\n"],
            args: "--relationships=R=n.csv --from-column a",
            says: "n.csv:1: the header has no types; say which columns hold the end of \
                   relationships: --to-column NAME",
        },
        Wrong {
            files: &[b"a,b\n1,2\n"],
            args: "--nodes=n.csv --id-column c",
            says: "n.csv:1: there is no column \"c\"; there are a, b",
        },
        Wrong {
            files: &[b"a,b\n1,2\n"],
            args: "--nodes=n.csv --id-column a --ignore-columns a",
            says: "n.csv:1: column 1 (a): the column a is to be two things at once; name it once",
        },
        Wrong {
            files: &[b"1,2\n"],
            args: "--nodes=n.csv --no-header --id-column 3",
            says: "n.csv:1: there is no column \"3\"; there are 1, 2",
        },
    ]);
}

#[test]
fn headers_that_do_not_go_together() {
    const DIFFERS: &str = "m.csv:1: it begins with another header than the first file of its group; load it \
                           by a --nodes or --relationships of its own";
    all_fail(&[
        Wrong {
            files: &[b"id:ID,v\n1,2\n", b"v,id:ID\n3,4\n"],
            args: "--nodes=n.csv,m.csv",
            says: DIFFERS,
        },
        Wrong {
            files: &[b"id:ID,v\n1,2\n", b"id:ID,v,w\n3,4,5\n"],
            args: "--nodes=n.csv,m.csv",
            says: DIFFERS,
        },
        Wrong {
            files: &[b"a,b\n1,2\n", b"b,a\n3,4\n"],
            args: "--nodes=n.csv,m.csv --id-column a",
            says: DIFFERS,
        },
        Wrong {
            files: &[b":ID{id-type:actual}\n4\n"],
            args: "--nodes=n.csv",
            says: "n.csv:1: column 1 (:ID{id-type:actual}): ID: ids are numbers of nodes in all files or in none; \
                   say so by --id-type actual",
        },
        Wrong {
            files: &[b"a:ID,b:ID\n1,2\n", b":START_ID,:END_ID,:END_ID\n1,1,2\n"],
            args: "--nodes=n.csv --relationships=R=m.csv",
            says: "m.csv:1: column 1 (:START_ID): the ids of these nodes are made of 2 columns, those of this end \
                   of 1; give it as many",
        },
    ]);
}

#[test]
fn text_and_values_are_no_group() {
    let folder = Folder::with(&[("a.csv", ":ID\n1\n"), ("b.jsonl", "{\"id\":2}\n")]);
    for (files, says) in [
        (
            "b.jsonl,a.csv",
            "a.csv: the first file of its group holds values and this one text; load them",
        ),
        (
            "a.csv,b.jsonl",
            "b.jsonl: the first file of its group is text and this one holds values; load them",
        ),
    ] {
        let says = format!("error: {says} with options of their own\n");
        folder.fails(&format!("load x.hop --nodes={files}"), 2, &[&says]);
    }
}

#[test]
fn delimiters_that_clash() {
    let differ = |args: &'static str, says| Wrong { files: &[b":ID\n"], args, says };
    all_fail(&[
        differ(
            "--nodes=n.csv --delimiter ; --array-delimiter ;",
            "field delimiter and array delimiter must differ, both are ';'; give another byte \
             for one of them",
        ),
        differ(
            "--nodes=n.csv --quote ,",
            "field delimiter and quote must differ, both are ','; give another byte for one of \
             them",
        ),
        differ(
            "--nodes=n.csv --escape \"",
            "quote and escape must differ, both are '\"'; give another byte for one of them",
        ),
        differ(
            "--nodes=n.csv --delimiter é",
            "\"é\" is not one ASCII character; write tab for a tabulator",
        ),
    ]);
}

#[test]
fn ids_that_are_taken_or_none() {
    all_fail(&[
        Wrong {
            files: &[b"id:ID\n1\n\"1\"\n"],
            args: "--nodes=n.csv",
            says: "n.csv:3: column 1 (id:ID): the id \"1\" is taken: n.csv:2 has it",
        },
        Wrong {
            files: &[b":ID(A)\n1\n", b":ID(A)\n01\n1\n"],
            args: "--nodes=n.csv --nodes=m.csv",
            says: "m.csv:3: column 1 (:ID(A)): the id \"1\" is taken in the id space A: n.csv:2 \
                   has it",
        },
        Wrong {
            files: &[b"a:ID,b:ID\n1,2\n1,3\n,\n,\n1,2\n"],
            args: "--nodes=n.csv",
            says: "n.csv:6: column 1 (a:ID): the id \"1, 2\" is taken: n.csv:2 has it",
        },
        Wrong {
            files: &[b":ID\n1\n 01\n"],
            args: "--nodes=n.csv --id-type integer",
            says: "n.csv:3: column 1 (:ID): the id \"1\" is taken: n.csv:2 has it",
        },
        Wrong {
            files: &[b":ID\n1\nx\n"],
            args: "--nodes=n.csv --id-type integer",
            says: "n.csv:3: column 1 (:ID): \"x\" is not a long: character 1 is 'x'",
        },
        Wrong {
            files: &[b":ID\n0\n5\n4\n"],
            args: "--nodes=n.csv --id-type actual",
            says: "n.csv:4: column 1 (:ID): \"4\" does not ascend: with --id-type actual 6 or \
                   more must come here; sort the rows, or use --id-type integer",
        },
        Wrong {
            files: &[b":ID\n0\n5x\n"],
            args: "--nodes=n.csv --id-type actual",
            says: "n.csv:3: column 1 (:ID): \"5x\" is no number of a node; --id-type actual wants \
                   numbers from 0",
        },
        Wrong {
            files: &[b":ID\n0\n5\n", b":START_ID,:END_ID\n0,5\n5,3\n"],
            args: "--nodes=n.csv --relationships=R=m.csv --id-type actual",
            says: "m.csv:3: column 2 (:END_ID): no node file has the id \"3\"",
        },
        // Numbers of nodes are no rows here: no row is named that it is not.
        Wrong {
            files: &[b":ID,k\n1,a\n3,b\n4,c\n9,a\n"],
            args: "--nodes=P=n.csv --id-type actual --unique P.k",
            says: "node 1 with label P has k = 'a' already",
        },
        Wrong {
            files: &[b":ID\n1\n", b":START_ID,:END_ID\n1,\n"],
            args: "--nodes=n.csv --relationships=R=m.csv",
            says: "m.csv:2: column 2 (:END_ID): the id is empty",
        },
    ]);
}

#[test]
fn plans_without_memory_or_place() {
    let folder = folder(&[b":ID,k:int\n1,x\n"]);
    let rows: String =
        (0..120_000).map(|row| format!("the-id-of-node-number-{row:060}\n")).collect();
    folder.write("ids.csv", format!(":ID\n{rows}").as_bytes());
    let before = folder.names();
    for (args, says) in [
        (
            "--nodes=n.csv --memory 1MiB",
            "a load needs 64 MiB, which is more than the 1 MiB of memory that this load may \
             take; give it more, as with --memory 4GiB",
        ),
        (
            "--nodes=ids.csv --memory 64MiB",
            "the ids of the nodes need more than the 64 MiB of memory that this load may take; \
             give it more, as with --memory 4GiB",
        ),
        (
            "--nodes=n.csv --rejects no/folder.csv",
            "no: there is no such folder to write the rejected rows in; make it first",
        ),
        (
            "--nodes=n.csv --rejects n.csv",
            "n.csv: it is there already, and rows mended in it would be lost; move it away or \
             name another file for --rejects",
        ),
    ] {
        let ran = folder.hop(&format!("load x.hop {args}"));
        assert_eq!(ran.err.lines().next(), Some(&*format!("error: {says}")), "{args}");
        assert_eq!(folder.names(), before, "{args}");
    }
}

#[test]
fn what_becomes_of_text() {
    for (file, args, becomes) in [
        (
            "id:ID,a,b:string[],c:int,d:int[]\n1,\"\",\"\",\"\",\"\"\n",
            "",
            "P {id: '1', a: '', b: [], d: []}",
        ),
        ("id:ID,a,b:string[]\n1,\"\",\"\"\n", "--ignore-empty-strings", "P {id: '1'}"),
        ("id:ID,a,b:string[],c:int[],d\n1,,, ,\"  \"\n", "", "P {id: '1', d: '  '}"),
        (
            "id:ID,a,b,c:string[]\n1, x , \"y\" ,\" z ; \"\n",
            "",
            "P {id: '1', a: ' x ', b: ' \"y\" ', c: [' z ', ' ']}",
        ),
        (
            "id:ID,a,b,c:string[]\n 1 , x ,\" y \", z ; w \n",
            "--trim-strings",
            "P {id: '1', a: 'x', b: ' y ', c: ['z', 'w']}",
        ),
        ("id:ID,a\n1,\"a \"\"b\"\" \\\"\n", "", "P {id: '1', a: 'a \"b\" \\\\'}"),
        (
            "id:ID,a,b\n1,\"a \\\"b\\\" \"\"c\"\" \\\\ \\n\",\\\"\n",
            "--escape \\",
            "P {id: '1', a: 'a \"b\" \"c\" \\\\ n', b: '\\\\\"'}",
        ),
        ("id:ID,a,b\r\n1,\"x\r\ny\",z\r", "", "P {id: '1', a: 'x\\r\\ny', b: 'z'}"),
        ("\u{feff}id:ID,a\n1,x", "", "P {id: '1', a: 'x'}"),
        ("\u{feff}\"id:ID\",a:IGNORE,b\n1,\"\u{1}\n\",x\n\n", "", "P {id: '1', b: 'x'}"),
        ("id:ID,a,:LABEL\n1,x,Q; R ;;Q\n", "", "P:Q:R {id: '1', a: 'x'}"),
        ("id:ID,a\n1,x,y,z\n", "--ignore-extra-columns", "P {id: '1', a: 'x'}"),
        (
            "id:ID,a,b:long[]\n1,x;y,1,2\n",
            "--delimiter , --array-delimiter | --ignore-extra-columns",
            "P {id: '1', a: 'x;y', b: [1]}",
        ),
        ("id:ID{id-type:long}\n +01 \n", "", "P {id: 1}"),
        (
            "id,a,b,c,d\n1,2,2.5,,true\n",
            "--id-column id --types a:string --ignore-columns d",
            "P {id: '1', a: '2', b: 2.5}",
        ),
    ] {
        assert_eq!(node(&[file.as_bytes()], &format!("--nodes=P=n.csv {args}")), becomes, "{file}");
    }
}

#[test]
fn ids_are_compared_as_they_are_kept() {
    let counts = |files: &[&[u8]], args: &str| {
        let report = folder(files).json(&format!("load x.hop {args} --json"));
        (report["nodes"].as_u64().unwrap(), report["relationships"].as_u64().unwrap())
    };
    let both = "--nodes=n.csv --relationships=R=m.csv";
    for (nodes, ends, args) in [
        (":ID\n 1 \n2\n", ":START_ID,:END_ID\n1,\" 1\"\n", ""),
        (":ID\n1\n01\n", ":START_ID,:END_ID\n1,01\n", ""),
        (":ID\n007\n+8\n", ":START_ID,:END_ID\n7, 08 \n", "--id-type integer"),
        ("id:ID{id-type:int}\n007\n-0\n", ":START_ID,:END_ID\n7,0\n", ""),
        (
            "a,b\n07,x\n8,y\n",
            "c,d\n7,08\n",
            "--id-column a --types a:int --from-column c --to-column d",
        ),
        (
            "a:ID,b:ID{id-type:int}\nx,07\nx,8\n",
            ":START_ID,:START_ID,:END_ID,:END_ID\nx,7,x,08\n",
            "",
        ),
        (":ID\n3\n07\n", ":START_ID,:END_ID\n03,7\n", "--id-type actual"),
    ] {
        let files = [nodes.as_bytes(), ends.as_bytes()];
        let trims = if args.is_empty() && nodes.contains(' ') { "--trim-strings" } else { args };
        if trims == "--trim-strings" {
            // A quoted id keeps its white space, so that only one end is found.
            let found = counts(&files, &format!("{both} {trims} --skip-bad-relationships"));
            assert_eq!(found, (2, 0));
            let files = [nodes.as_bytes(), &b":START_ID,:END_ID\n1 , 2\n"[..]];
            assert_eq!(counts(&files, &format!("{both} {trims}")), (2, 1));
        } else {
            assert_eq!(counts(&files, &format!("{both} {args}")), (2, 1), "{nodes}");
        }
    }
}

#[test]
fn wide_and_long_rows() {
    let names: String = (0..2_000).map(|number| format!(",k{number}:int")).collect();
    let text = format!("id:ID{names}\n1{}\n2{}\n", ",7".repeat(2_000), ",".repeat(1_999));
    let folder = folder(&[text.as_bytes()]);
    folder.fails("load x.hop --nodes=n.csv", 2, &["n.csv:3: expected 2001 columns, found 2000\n"]);
    folder.hop_ok("load x.hop --nodes=P=n.csv --bad-tolerance 1 --index P.k1999");
    let walk = folder.hop_ok("walk x.hop --from P.k1999=7 --hops 1").out;
    assert!(walk.contains("{k1999: 7, id: '1', k0: 7"), "{walk}");
    let long = "y\n".repeat(5 << 19);
    let text = format!("id:ID,k\n1,\"{long}\"\n\"{long}\",x\n2,\"{long}\",z\n");
    folder.write("long.csv", text.as_bytes());
    let line = 2 + 3 * (5 << 19) - (5 << 19) + 2;
    let says = format!("long.csv:{line}: expected 2 columns, found 3");
    folder.fails("load y.hop --nodes=long.csv", 2, &[&says]);
}

#[test]
fn packed_files() {
    let gzip = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, text).unwrap();
        encoder.finish().unwrap()
    };
    let many: String = (0..100_000).map(|id| format!("{id}\n")).collect();
    let folder = folder(&[b"\xef\xbb\xbf:ID\n1\n"]);
    folder.write("a.gz", &gzip(b"\xef\xbb\xbf:ID\n2\n"));
    let whole = gzip(format!(":ID\n{many}").as_bytes());
    folder.write("cut.gz", &whole[..whole.len() - 20]);
    folder.write("named.gz", b":ID\n1\n");
    let report = folder.json("load x.hop --nodes=n.csv,a.gz --json");
    assert_eq!(report["nodes"], 2);
    for (file, says) in [
        ("cut.gz", "cut.gz: the compressed file ends too early; was it copied whole?"),
        ("named.gz", "named.gz: its name ends in .gz, but it is not a gzip file"),
    ] {
        folder.fails(&format!("load y.hop --nodes={file}"), 2, &[says]);
    }
}

#[test]
fn types_are_found_by_looking_at_all_of_a_file() {
    let rows: String = (0..60_000).map(|id| format!("{id},{id},{id},{id},\n")).collect();
    let folder = Folder::new();
    folder.write("n.csv", format!("a,b,c,d,e\n{rows}60000,1.5,x,,\n").as_bytes());
    let report = folder.json("load x.hop --nodes=P=n.csv --id-column a --json");
    let types = report["types"].as_array().unwrap().iter();
    let types: Vec<_> =
        types.map(|of| format!("{} {} {}", of["file"], of["column"], of["type"])).collect();
    let named = |column: &str, of: &str| format!("\"n.csv\" \"{column}\" \"{of}\"");
    assert_eq!(
        types,
        [named("b", "double"), named("c", "string"), named("d", "long"), named("e", "string")]
    );
    let out = folder.hop_ok("load y.hop --nodes=P=n.csv --id-column a --types c:string").out;
    assert!(out.contains("n.csv: b is double\n") && !out.contains("c is"), "{out}");
    let says = "n.csv:60002: column 3 (c): \"x\" is not a long: character 1 is 'x'";
    folder.fails("load z.hop --nodes=P=n.csv --id-column a --types c:long", 2, &[says]);
}

#[test]
fn one_option_names_columns_of_several_files() {
    let folder = folder(&[b"id,born,note\n1,5,x\n", b"a,b,since\n1,1,7\n"]);
    let both =
        "--nodes=P=n.csv --relationships=R=m.csv --id-column id --from-column a --to-column b";
    folder.hop_ok(&format!(
        "load x.hop {both} --types born:string,since:string --ignore-columns note"
    ));
    let says = "there is no column \"sinse\" in any file; there are id, born, note, a, b, since";
    folder.fails(&format!("load y.hop {both} --types sinse:int"), 2, &[says]);
}

/// Runs with `text` on standard input, or in a pipe with a name.
fn fed(folder: &Folder, args: &str, text: &[u8]) -> crate::program::Ran {
    folder.write("input", text);
    let mut command = folder.command(args);
    // Through a pipe, which cannot be read twice.
    let mut cat = std::process::Command::new("cat");
    let mut cat =
        cat.arg(folder.path("input")).stdout(std::process::Stdio::piped()).spawn().unwrap();
    command.stdin(cat.stdout.take().unwrap());
    let ran = ran(command);
    cat.wait().unwrap();
    ran
}

#[test]
fn input_that_can_be_read_once() {
    let rows: String = (0..20_000).map(|id| format!("{id},x\n")).collect();
    let folder = Folder::new();
    for (number, (args, text)) in [
        ("--nodes=P=-", format!("id:ID,k\n{rows}")),
        ("--nodes=P=- --no-header --id-column 1 --types 2:string", rows.clone()),
        ("--nodes=P=- --no-header --id-column 1 --types 2:string", rows.trim_end().to_owned()),
        ("--nodes=P=- --no-header --id-column 1 --types 2:string", format!("\n\n{rows}")),
    ]
    .into_iter()
    .enumerate()
    {
        let ran = fed(&folder, &format!("load {number}.hop {args} --json"), text.as_bytes());
        let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_default();
        assert_eq!(report["nodes"], 20_000, "{args}: {}", ran.err);
    }
    let ran = fed(&folder, "load x.hop --nodes=P=- --id-column id", b"id,k\n1,2\n");
    let says = "error: -: it can be read only once, so types cannot be found by looking at its values \
                first; name them: --types name:type,…\n";
    assert!(ran.code == 2 && ran.err.starts_with(says), "{}", ran.err);
    let ran = fed(&folder, "load x.hop --nodes=P=- --nodes=Q=-", b":ID\n1\n");
    let says = "error: the standard input can be read once only\nhint: put one of the inputs into a file\n";
    assert!(ran.code == 2 && ran.err == says, "{}", ran.err);
}

#[test]
fn a_pipe_with_a_name_is_read_once() {
    let folder = Folder::new();
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(made.success());
    let rows: String = (0..20_000).map(|id| format!("{id}\n")).collect();
    for (args, header) in [("", ":ID\n"), ("--no-header --id-column 1", "")] {
        let pipe = folder.path("pipe");
        let text = format!("{header}{rows}");
        std::thread::scope(|scope| {
            scope.spawn(move || std::fs::write(pipe, text));
            let report =
                folder.json(&format!("load {}.hop --nodes=P=pipe --json {args}", args.len()));
            assert_eq!(report["nodes"], 20_000);
        });
    }
}
