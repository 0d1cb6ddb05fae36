//! The document is held to the router: paths, methods, parameters.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::*;

/// Path and method to the names of parameters.
type Described = BTreeMap<(String, String), BTreeSet<String>>;

fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

fn of_the_router() -> Described {
    let described = |endpoint: &Endpoint| {
        let path = format!("{BEGINNING}{}", endpoint.path);
        let in_path = endpoint.path.split(['{', '}']).skip(1).step_by(2);
        let parameters = names(endpoint.query.iter().copied().chain(in_path));
        ((path, verb_name(endpoint.verb).to_lowercase()), parameters)
    };
    let own = ((format!("{BEGINNING}/openapi.json"), "get".to_owned()), BTreeSet::new());
    ENDPOINTS.iter().map(described).chain([own]).collect()
}

fn of_the_document(document: &Value) -> Described {
    let mut all = Described::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let none = Vec::new();
            let parameters = operation["parameters"].as_array().unwrap_or(&none);
            let parameters = names(parameters.iter().map(|it| it["name"].as_str().unwrap()));
            all.insert((path.clone(), method.clone()), parameters);
        }
    }
    all
}

#[test]
fn the_document_describes_what_is_there() {
    let document: Value = serde_json::from_str(OPENAPI).unwrap();
    assert_eq!(of_the_document(&document), of_the_router());
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn what_writes_says_what_can_go_wrong() {
    let document: Value = serde_json::from_str(OPENAPI).unwrap();
    for endpoint in &ENDPOINTS {
        let path = format!("{BEGINNING}{}", endpoint.path);
        let operation = &document["paths"][path][verb_name(endpoint.verb).to_lowercase()];
        assert_eq!(operation["requestBody"].is_object(), endpoint.verb.has_body());
        let responses = operation["responses"].as_object().unwrap();
        let has = |status: &str| responses.contains_key(status);
        for status in ["400", "401", "403", "413", "500", "503"] {
            assert!(has(status), "{} {status}", endpoint.path);
        }
        assert!(!endpoint.path.contains('{') || has("404"), "{}", endpoint.path);
        assert!(!endpoint.verb.has_body() || (has("415") && has("422")), "{}", endpoint.path);
    }
}
