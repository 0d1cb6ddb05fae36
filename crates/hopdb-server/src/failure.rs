//! What a client is told when its request fails: a status, a code for programs, a message and a way out for people.
//!
//! Every answer that is no success has this shape:
//! `{"error":{"code":"bad_request","message":"…","hint":"…"}}`, where the hint may be null. The one place that
//! maps the database's errors is `From<hopdb::Error>`.

use std::error::Error as _;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use hopdb::{ErrorKind, GraphError};
use serde::Serialize;

/// The type of every answer of the API.
pub(crate) const JSON: &str = "application/json; charset=utf-8";

/// Why a request fails, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    BadRequest,
    Unauthorized,
    Forbidden,
    ReadOnly,
    NotFound,
    MethodNotAllowed,
    Conflict,
    TooLarge,
    UnsupportedMediaType,
    Unprocessable,
    Busy,
    Timeout,
    Damaged,
    Internal,
}

impl Code {
    fn status(self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden | Self::ReadOnly => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Busy | Self::Timeout => StatusCode::SERVICE_UNAVAILABLE,
            Self::Damaged | Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::BadRequest => "bad_request",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::ReadOnly => "read_only",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::Conflict => "conflict",
            Self::TooLarge => "too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::Unprocessable => "unprocessable",
            Self::Busy => "busy",
            Self::Timeout => "timeout",
            Self::Damaged => "damaged",
            Self::Internal => "internal",
        }
    }

    /// A header that goes with the status.
    fn header(self) -> Option<(HeaderName, HeaderValue)> {
        match self {
            Self::Unauthorized => {
                Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")))
            }
            Self::Busy => Some((header::RETRY_AFTER, HeaderValue::from_static("1"))),
            _ => None,
        }
    }
}

#[derive(Serialize)]
struct Whole<'a> {
    error: Told<'a>,
}

#[derive(Serialize)]
struct Told<'a> {
    code: &'static str,
    message: &'a str,
    hint: Option<&'a str>,
}

/// Why a request fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// The same with a way out.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A bad value of a parameter; `allowed` says what it may be.
    pub(crate) fn parameter(name: &str, value: &str, allowed: &str) -> Self {
        let shown: String = value.chars().take(100).collect();
        Self::new(Code::BadRequest, format!("{name} is {shown:?}, which is not {allowed}"))
    }

    pub(crate) fn response(&self) -> Response<Body> {
        let Self { code, message, hint } = self;
        let error = Told { code: code.name(), message, hint: hint.as_deref() };
        // Strings are always JSON.
        let body = serde_json::to_vec(&Whole { error }).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = code.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
        headers.extend(code.header());
        response
    }
}

impl From<hopdb::Error> for Failure {
    fn from(error: hopdb::Error) -> Self {
        let code = match error.kind() {
            ErrorKind::NotFound => Code::NotFound,
            ErrorKind::Conflict => Code::Conflict,
            ErrorKind::InvalidInput => Code::Unprocessable,
            ErrorKind::Corruption | ErrorKind::WrongFormat => Code::Damaged,
            ErrorKind::Busy | ErrorKind::OutOfMemory => Code::Busy,
            ErrorKind::ReadOnly => Code::ReadOnly,
            _ => Code::Internal,
        };
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !message.contains(&text) {
                message = format!("{message}: {text}");
            }
            cause = error.source();
        }
        let hint = match (code, error.graph_error()) {
            (_, GraphError::NodeHasRelationships(_)) => {
                Some("?detach=true deletes its relationships as well")
            }
            (Code::Damaged, _) => Some("`hop check` names all that is damaged"),
            (Code::Busy, _) => Some("try again; a larger --cache-bytes helps when this is often"),
            _ => None,
        };
        Self { code, message, hint: hint.map(str::to_owned) }
    }
}

impl From<GraphError> for Failure {
    fn from(error: GraphError) -> Self {
        hopdb::Error::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_databases_errors_have_codes() {
        let failure = Failure::from(GraphError::NodeHasRelationships(7.into()));
        assert_eq!(failure.code, Code::Conflict);
        assert!(failure.hint.unwrap().contains("detach"));
        let failure = Failure::from(GraphError::NodeMissing(7.into()));
        assert_eq!((failure.code, &*failure.message), (Code::NotFound, "there is no node 7"));
        let failure = Failure::from(GraphError::Damaged { table: "nodes", what: "x".into() });
        assert_eq!(failure.code, Code::Damaged);
    }

    #[test]
    fn some_codes_have_a_header() {
        let busy = Failure::new(Code::Busy, "x").response();
        assert_eq!(busy.status(), 503);
        assert_eq!(busy.headers()[header::RETRY_AFTER], "1");
        let unknown = Failure::new(Code::Unauthorized, "x").response();
        assert_eq!(unknown.headers()[header::WWW_AUTHENTICATE], "Bearer");
    }
}
