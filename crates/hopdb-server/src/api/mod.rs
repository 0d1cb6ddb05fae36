//! The API below `/api/v1`: its endpoints, and the way of a request through them.
//!
//! Invariant: [`ENDPOINTS`] is the one list of paths, methods and parameters. The router is made of it, and a test
//! holds `openapi.json` to it. An endpoint is a plain function from a [`Call`] to an [`Answer`]: it runs on a
//! thread that may wait for the disk, takes a snapshot of its own, and knows nothing of HTTP but its parameters.

mod database;
mod inspect;
mod nodes;
mod search;
mod walk;
mod write;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::middleware::{self, Next};
use axum::routing::{MethodFilter, on};
use hopdb::Database;
use http_body_util::{BodyExt, Limited};
use serde::Serialize;

use crate::answers::Answers;
use crate::failure::{Code, Failure, JSON};
use crate::gate::{self, Gate};
use crate::limits::Limits;
use crate::log::{Entry, Log};
use crate::page;
use crate::query::Query;
use crate::work::{Stop, Workers};

const OPENAPI: &str = include_str!("../../openapi.json");

/// What all paths of the API begin with.
const BEGINNING: &str = "/api/v1";

/// What all requests share.
pub(crate) struct Service {
    pub(crate) db: Database,
    /// Name of the database, as people know it.
    pub(crate) name: String,
    pub(crate) writable: bool,
    pub(crate) gate: Gate,
    pub(crate) limits: Limits,
    pub(crate) workers: Workers,
    pub(crate) answers: Answers,
    pub(crate) log: Option<Log>,
    pub(crate) opened: Instant,
    /// Another one for each opening: tells a restart.
    pub(crate) identity: String,
    /// Requests since the opening.
    pub(crate) requests: AtomicU64,
    /// Requests not answered yet.
    pub(crate) requests_now: AtomicUsize,
}

/// Who asks.
#[derive(Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Get,
    Post,
    Patch,
    Delete,
}

impl Verb {
    fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Patch => MethodFilter::PATCH,
            Self::Delete => MethodFilter::DELETE,
        }
    }

    fn writes(self) -> bool {
        self != Self::Get
    }

    fn has_body(self) -> bool {
        matches!(self, Self::Post | Self::Patch)
    }
}

/// Where the work of an endpoint is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    /// At once, on the thread that has the request: it reads a few pages.
    Short,
    /// On a thread beside: it may take long, waits for the disk in any case, or can be stopped.
    Long,
}

/// One method of one path.
struct Endpoint {
    verb: Verb,
    /// Behind `/api/v1`.
    path: &'static str,
    /// Names of its query parameters.
    query: &'static [&'static str],
    work: Work,
    answer: fn(&Call<'_>) -> Result<Answer, Failure>,
}

/// All of them, but for the document that describes them.
static ENDPOINTS: [Endpoint; 16] = {
    use Verb::{Delete, Get, Patch, Post};
    use Work::{Long, Short};
    const fn endpoint(
        (verb, path): (Verb, &'static str),
        query: &'static [&'static str],
        work: Work,
        answer: fn(&Call<'_>) -> Result<Answer, Failure>,
    ) -> Endpoint {
        Endpoint { verb, path, query, work, answer }
    }
    let some: &[&str] = &["direction", "type", "limit", "after"];
    let walk: &[&str] = &["hops", "direction", "type", "sample"];
    let search: &[&str] = &["q", "index", "match", "limit", "after"];
    [
        endpoint((Get, "/database"), &[], Short, database::database),
        endpoint((Get, "/pool"), &[], Short, database::pool),
        endpoint((Get, "/search"), search, Long, search::search),
        endpoint((Post, "/nodes"), &[], Long, write::create_node),
        endpoint((Get, "/nodes/{id}"), &[], Short, nodes::node),
        endpoint((Patch, "/nodes/{id}"), &[], Long, write::change_node),
        endpoint((Delete, "/nodes/{id}"), &["detach"], Long, write::delete_node),
        endpoint((Get, "/nodes/{id}/relationships"), some, Short, nodes::relationships),
        endpoint((Get, "/nodes/{id}/surroundings"), &["limit"], Short, nodes::surroundings),
        endpoint((Get, "/nodes/{id}/walk"), walk, Long, walk::walk),
        endpoint((Post, "/relationships"), &[], Long, write::create_relationship),
        endpoint((Get, "/relationships/{id}"), &[], Short, nodes::relationship),
        endpoint((Patch, "/relationships/{id}"), &[], Long, write::change_relationship),
        endpoint((Delete, "/relationships/{id}"), &[], Long, write::delete_relationship),
        endpoint((Get, "/inspect/nodes/{id}"), &[], Short, inspect::node),
        endpoint((Get, "/inspect/pages/{page}"), &[], Short, inspect::page),
    ]
};

/// A request as an endpoint sees it.
struct Call<'s> {
    service: &'s Service,
    /// The parameter of the path; empty where there is none.
    id: String,
    query: Query,
    body: Bytes,
    stop: &'s Stop,
}

/// What an endpoint gives back.
#[derive(Debug)]
enum Answer {
    /// JSON that was asked for.
    Found(Bytes),
    /// JSON of what was made.
    Made(Bytes),
    /// It is done, and there is nothing to say.
    Done,
}

impl Call<'_> {
    fn id(&self) -> Result<u64, Failure> {
        crate::query::id("the id in the path", &self.id)
    }

    fn found(&self, answer: &impl Serialize) -> Result<Answer, Failure> {
        self.json(answer).map(Answer::Found)
    }

    fn json(&self, answer: &impl Serialize) -> Result<Bytes, Failure> {
        self.service.answers.json(answer)
    }
}

/// Everything that is answered, the page included.
pub(crate) fn router(service: Arc<Service>) -> Router {
    let mut router = Router::new();
    for endpoint in &ENDPOINTS {
        let handle = move |State(service), path, request| handle(service, endpoint, path, request);
        let path = format!("{BEGINNING}{}", endpoint.path);
        router = router.route(&path, on(endpoint.verb.filter(), handle));
    }
    let paths = || ENDPOINTS.iter().map(|endpoint| (verb_name(endpoint.verb), endpoint.path));
    let page = Arc::new(page::Page::new(BEGINNING, paths()));
    router
        .route(&format!("{BEGINNING}/openapi.json"), on(MethodFilter::GET, openapi))
        .method_not_allowed_fallback(|| async { method_not_allowed() })
        .fallback(move |request: Request| {
            let answer = page.answer(request.method(), request.uri().path(), request.headers());
            async { answer }
        })
        .layer(middleware::from_fn_with_state(Arc::clone(&service), watch))
        .with_state(service)
}

fn verb_name(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "GET",
        Verb::Post => "POST",
        Verb::Patch => "PATCH",
        Verb::Delete => "DELETE",
    }
}

fn method_not_allowed() -> Response<Body> {
    Failure::new(Code::MethodNotAllowed, "this path does not take this method")
        .hint("the header Allow names those that it takes")
        .response()
}

/// Around every request: the gate before it, headers and the log behind it.
async fn watch(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    struct Running<'s>(&'s AtomicUsize);
    impl Drop for Running<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    service.requests.fetch_add(1, Ordering::Relaxed);
    service.requests_now.fetch_add(1, Ordering::Relaxed);
    let _running = Running(&service.requests_now);
    let peer = request.extensions().get().map(|Peer(peer)| *peer);
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let entry = Entry::begin(service.log.clone(), peer, method, uri);
    let checked = service.gate.check(&request).and_then(|()| check_length(&service, &request));
    let mut response = match checked {
        Ok(()) => next.run(request).await,
        Err(failure) => failure.response(),
    };
    gate::harden(response.headers_mut());
    entry.end(response.status().as_u16(), response.body().size_hint().exact().unwrap_or(0));
    response
}

fn check_length(service: &Service, request: &Request) -> Result<(), Failure> {
    let most = service.limits.address_bytes;
    let length = request.uri().path_and_query().map_or(0, |address| address.as_str().len());
    if length <= most {
        return Ok(());
    }
    let message = format!("the address has {length} bytes, of {most} at most");
    Err(Failure::new(Code::BadRequest, message))
}

async fn openapi(request: Request) -> Response<Body> {
    match Query::parse(request.uri().query().unwrap_or_default(), &[]) {
        Ok(_) => with_json(StatusCode::OK, Body::from(OPENAPI)),
        Err(failure) => failure.response(),
    }
}

fn with_json(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

async fn handle(
    service: Arc<Service>,
    endpoint: &'static Endpoint,
    path: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Response<Body> {
    match answer(service, endpoint, path, request).await {
        Ok(Answer::Found(json)) => with_json(StatusCode::OK, json.into()),
        Ok(Answer::Made(json)) => with_json(StatusCode::CREATED, json.into()),
        Ok(Answer::Done) => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
        }
        Err(failure) => failure.response(),
    }
}

async fn answer(
    service: Arc<Service>,
    endpoint: &'static Endpoint,
    path: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Result<Answer, Failure> {
    if endpoint.verb.writes() && !service.writable {
        let message = "this server only reads";
        return Err(Failure::new(Code::ReadOnly, message).hint("start it with --write"));
    }
    let not_text = |_| Failure::new(Code::BadRequest, "the path is not UTF-8");
    let path = path.map_err(not_text)?;
    let id = path.iter().next().map(|(_, value)| value.to_owned()).unwrap_or_default();
    let query = Query::parse(request.uri().query().unwrap_or_default(), endpoint.query)?;
    let body = match endpoint.verb.has_body() {
        true => body(&service.limits, request).await?,
        false => Bytes::new(),
    };
    let owned = Arc::clone(&service);
    let work =
        move |stop: &Stop| (endpoint.answer)(&Call { service: &owned, id, query, body, stop });
    match endpoint.work {
        Work::Short => service.workers.run_here(work),
        Work::Long => service.workers.run(work).await,
    }
}

/// The body of a request, which must be JSON.
async fn body(limits: &Limits, request: Request) -> Result<Bytes, Failure> {
    if !is_json(request.headers()) {
        let message = "the body must be of type application/json";
        return Err(Failure::new(Code::UnsupportedMediaType, message)
            .hint("send the header Content-Type: application/json"));
    }
    let most = limits.body_bytes;
    let too_large = || {
        let message = format!("the body is larger than {most} bytes");
        Failure::new(Code::TooLarge, message).hint("change less at a time, or use `hop load --add`")
    };
    if request.body().size_hint().lower() > most as u64 {
        return Err(too_large());
    }
    let body = Limited::new(request.into_body(), most).collect();
    match tokio::time::timeout(limits.body_wait, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Failure::new(Code::BadRequest, "the body broke off")),
        Err(_) => {
            let seconds = limits.body_wait.as_secs_f64();
            let message = format!("the body did not arrive within {seconds:.0} s");
            Err(Failure::new(Code::Timeout, message))
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests;
