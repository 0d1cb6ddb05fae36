//! What the database holds, and what its pool does.

use std::sync::atomic::Ordering;

use hopdb::{Catalog, FORMAT_VERSION};
use serde::Serialize;

use super::{Answer, Call};
use crate::failure::Failure;

#[derive(Serialize)]
struct Whole<'a> {
    opened: &'a str,
    name: &'a str,
    version: &'static str,
    format_version: u64,
    page_size: usize,
    file_bytes: u64,
    nodes: u64,
    relationships: u64,
    labels: Vec<Label<'a>>,
    relationship_types: Vec<RelationshipType<'a>>,
    property_keys: Vec<&'a str>,
    indexes: Vec<Index<'a>>,
    writable: bool,
}

#[derive(Serialize)]
struct Label<'a> {
    name: &'a str,
    nodes: u64,
}

#[derive(Serialize)]
struct RelationshipType<'a> {
    name: &'a str,
    relationships: u64,
}

#[derive(Serialize)]
struct Index<'a> {
    label: &'a str,
    property: &'a str,
    unique: bool,
}

pub(super) fn database(call: &Call<'_>) -> Result<Answer, Failure> {
    let service = call.service;
    let snapshot = service.db.read()?;
    let catalog = snapshot.reader().catalog();
    let labels = catalog.labels().map(|(name, nodes)| Label { name, nodes });
    let types = catalog.relationship_types();
    call.found(&Whole {
        opened: &service.identity,
        name: &service.name,
        version: env!("CARGO_PKG_VERSION"),
        format_version: u64::from(FORMAT_VERSION),
        page_size: service.db.page_size(),
        file_bytes: service.db.file_bytes()?,
        nodes: catalog.node_count(),
        relationships: catalog.relationship_count(),
        labels: labels.collect(),
        relationship_types: types
            .map(|(name, relationships)| RelationshipType { name, relationships })
            .collect(),
        property_keys: catalog.property_keys().map(AsRef::as_ref).collect(),
        indexes: indexes(catalog),
        writable: service.writable,
    })
}

fn indexes(catalog: &Catalog) -> Vec<Index<'_>> {
    let index = |index: &hopdb::IndexDefinition| Index {
        label: catalog.label_name(index.label).map_or("?", |name| name),
        property: catalog.property_key_name(index.property).map_or("?", |name| name),
        unique: index.unique,
    };
    catalog.indexes().iter().map(index).collect()
}

#[derive(Serialize)]
struct Pool<'a> {
    opened: &'a str,
    frames_max: usize,
    resident: usize,
    dirty: usize,
    pinned: usize,
    older_versions: usize,
    hits: u64,
    misses: u64,
    evictions: u64,
    pages_read: u64,
    pages_written: u64,
    data_syncs: u64,
    log_syncs: u64,
    page_size: usize,
    uptime_ms: u64,
    requests: u64,
    requests_now: usize,
}

pub(super) fn pool(call: &Call<'_>) -> Result<Answer, Failure> {
    let service = call.service;
    let hopdb::Counts { io, pool } = service.db.counts();
    call.found(&Pool {
        opened: &service.identity,
        frames_max: pool.frames_max,
        resident: pool.resident,
        dirty: pool.dirty,
        pinned: service.db.pinned_pages(),
        older_versions: pool.retained,
        hits: pool.hits,
        misses: pool.misses,
        evictions: pool.evictions,
        pages_read: io.pages_read,
        pages_written: io.pages_written,
        data_syncs: io.data_syncs,
        log_syncs: io.log_syncs,
        page_size: service.db.page_size(),
        uptime_ms: u64::try_from(service.opened.elapsed().as_millis()).unwrap_or(u64::MAX),
        requests: service.requests.load(Ordering::Relaxed),
        requests_now: service.requests_now.load(Ordering::Relaxed),
    })
}
