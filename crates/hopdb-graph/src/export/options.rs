//! The file `load.args`: what `hop load` must be told, one argument on each line.

use std::fmt::Write as _;

use super::layout::Layout;
use crate::catalog::Catalog;
use crate::load::names::write_name;

/// The file's name.
pub const ARGUMENTS_FILE: &str = "load.args";

/// What names on a command line without backquotes must not hold.
const SPECIAL: [char; 3] = [':', '=', '.'];

/// The text of the file.
pub(super) fn arguments(catalog: &Catalog, layout: &Layout) -> String {
    let mut out = String::from(
        "# Loads the files of this folder: hop load NEW.hop --folder FOLDER @FOLDER/load.args\n\
         --id-type=integer\n",
    );
    for file in &layout.nodes {
        out.push_str("--nodes=");
        let labels = file.labels.as_deref().unwrap_or_default();
        for (index, label) in labels.iter().enumerate() {
            if index > 0 {
                out.push(':');
            }
            put(catalog.label_name(*label), &mut out);
        }
        put_file(!labels.is_empty(), &file.columns.file_name, &mut out);
    }
    for file in &layout.relationships {
        out.push_str("--relationships=");
        if let Some(type_id) = file.type_id {
            put(catalog.type_name(type_id), &mut out);
        }
        put_file(file.type_id.is_some(), &file.columns.file_name, &mut out);
    }
    for index in catalog.indexes() {
        out.push_str(if index.unique { "--unique=" } else { "--index=" });
        put(catalog.label_name(index.label), &mut out);
        out.push('.');
        put(catalog.property_key_name(index.property), &mut out);
        out.push('\n');
    }
    out
}

fn put(name: Option<&std::sync::Arc<str>>, out: &mut String) {
    write_name(name.map_or("", |name| name), &SPECIAL, out);
}

fn put_file(is_named: bool, file_name: &str, out: &mut String) {
    writeln!(out, "{}{file_name}", if is_named { "=" } else { "" })
        .expect("a string takes everything");
}
