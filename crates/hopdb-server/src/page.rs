//! The files of the page, as the build took them in; or, where it had none, a page that says how to get it.
//!
//! Every file has an `ETag` made from its bytes, so that a browser asks and is told that nothing has changed.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};

use crate::failure::{Code, Failure};

// `FILES`: paths below the page's folder, and bytes. `WHY_NONE`: why there are none.
include!(concat!(env!("OUT_DIR"), "/page.rs"));

const INDEX: &str = "index.html";

/// What is served outside of the API.
pub(crate) struct Page {
    files: Vec<File>,
}

struct File {
    /// As it is asked for.
    path: String,
    bytes: std::borrow::Cow<'static, [u8]>,
    content_type: &'static str,
    tag: HeaderValue,
}

impl Page {
    /// The page; `endpoints`, methods and paths behind `beginning`, are for the one that stands in for it.
    pub(crate) fn new<'e>(
        beginning: &str,
        endpoints: impl Iterator<Item = (&'e str, &'e str)>,
    ) -> Self {
        let mut files: Vec<File> =
            FILES.iter().map(|(path, bytes)| File::new(path, (*bytes).into())).collect();
        if !files.iter().any(|file| file.path == "/") {
            let text = stand_in(beginning, endpoints);
            files.push(File::new(INDEX, text.into_bytes().into()));
        }
        Self { files }
    }

    /// A file of the page, or 404.
    pub(crate) fn answer(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Response<Body> {
        let Some(file) = self.files.iter().find(|file| file.path == path) else {
            return Failure::new(Code::NotFound, "there is nothing at this path")
                .hint("/api/v1/openapi.json describes the API; the page is at /")
                .response();
        };
        if method != Method::GET && method != Method::HEAD {
            let mut response =
                Failure::new(Code::MethodNotAllowed, "this path can only be read").response();
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET,HEAD"));
            return response;
        }
        let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
        let tags = known.unwrap_or_default().split(',').map(str::trim);
        let unchanged =
            tags.map(|tag| tag.strip_prefix("W/").unwrap_or(tag)).any(|tag| file.tag == tag);
        let mut response = Response::new(match unchanged || method == Method::HEAD {
            true => Body::empty(),
            false => match &file.bytes {
                std::borrow::Cow::Borrowed(bytes) => Body::from(*bytes),
                std::borrow::Cow::Owned(bytes) => Body::from(bytes.clone()),
            },
        });
        if unchanged {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        headers.insert(header::ETAG, file.tag.clone());
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if !unchanged {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.content_type));
            headers.insert(header::CONTENT_LENGTH, file.bytes.len().into());
        }
        response
    }
}

impl File {
    fn new(path: &str, bytes: std::borrow::Cow<'static, [u8]>) -> Self {
        let tag = format!("\"{:016x}\"", xxhash_rust::xxh3::xxh3_64(&bytes));
        // Digits and quotes can stand in a header.
        let tag = HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("\"\""));
        let content_type = content_type(path);
        let path = if path == INDEX { "/".to_owned() } else { format!("/{path}") };
        Self { path, bytes, content_type, tag }
    }
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn stand_in<'e>(beginning: &str, endpoints: impl Iterator<Item = (&'e str, &'e str)>) -> String {
    let list: String = endpoints
        .map(|(method, path)| format!("<li><code>{method} {beginning}{path}</code></li>\n"))
        .collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>HopDB</title>\n\
         <h1>HopDB</h1>\n\
         <p>The page that shows the graph is not in this build: {WHY_NONE}.</p>\n\
         <p>In a checkout, with Node.js 20 or newer: <code>cargo xtask page</code>, then build again.</p>\n\
         <p>The API works. <a href=\"{beginning}/openapi.json\">Its description</a>; its paths:</p>\n\
         <ul>\n{list}</ul>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(page: &Page, path: &str, tag: Option<&HeaderValue>) -> Response<Body> {
        let mut headers = HeaderMap::new();
        headers.extend(tag.map(|tag| (header::IF_NONE_MATCH, tag.clone())));
        page.answer(&Method::GET, path, &headers)
    }

    #[test]
    fn an_unchanged_file_is_not_sent_again() {
        let page = Page { files: vec![File::new("assets/a.js", (b"1" as &[u8]).into())] };
        let first = get(&page, "/assets/a.js", None);
        assert_eq!(first.status(), 200);
        assert_eq!(first.headers()[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
        let tag = &first.headers()[header::ETAG];
        assert_eq!(get(&page, "/assets/a.js", Some(tag)).status(), 304);
        let weak = HeaderValue::from_str(&format!("\"x\", W/{}", tag.to_str().unwrap())).unwrap();
        assert_eq!(get(&page, "/assets/a.js", Some(&weak)).status(), 304);
        let other = HeaderValue::from_static("\"x\"");
        assert_eq!(get(&page, "/assets/a.js", Some(&other)).status(), 200);
        assert_eq!(get(&page, "/assets/b.js", None).status(), 404);
        assert_eq!(get(&page, "/", None).status(), 404);
        let posted = page.answer(&Method::POST, "/assets/a.js", &HeaderMap::new());
        assert_eq!(
            (posted.status().as_u16(), &posted.headers()[header::ALLOW]),
            (405, &"GET,HEAD".parse().unwrap())
        );
    }

    #[test]
    fn there_is_always_a_page() {
        let page = Page::new("/api/v1", [("GET", "/pool")].into_iter());
        let response = get(&page, "/", None);
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
        assert!(stand_in("/api/v1", [("GET", "/pool")].into_iter()).contains("GET /api/v1/pool"));
    }
}
