//! Who may ask: this machine's own programs, under the names that this server has, with the token where there is one.
//!
//! Invariants:
//! 1. `Host` names this server (a loopback name, its address, a name that was given to it) with its port: a page
//!    from elsewhere cannot reach it under a name of its own that leads here (DNS rebinding).
//! 2. `Origin`, when a browser sends it, is this server: pages from elsewhere cannot write. There are no CORS headers,
//!    so they cannot read either.
//! 3. A token is compared in constant time, and is in no log, no error and no `Debug`.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, header};
use subtle::ConstantTimeEq;

use crate::error::{Error, Result};
use crate::failure::{Code, Failure};

const TOKEN_CHARACTERS_MIN: usize = 16;

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// What whoever asks must know.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A token of at least 16 characters, which are printable ASCII without spaces, so that it fits a header.
    ///
    /// # Errors
    /// [`Error::BadToken`].
    pub fn new(text: &str) -> Result<Self> {
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let reason = "has characters that are not printable ASCII; write letters and digits";
            return Err(Error::BadToken { reason });
        }
        if text.len() < TOKEN_CHARACTERS_MIN {
            return Err(Error::BadToken { reason: "is shorter than 16 characters" });
        }
        Ok(Self(text.to_owned()))
    }

    fn is(&self, other: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(other).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Decides about requests by their headers.
#[derive(Debug)]
pub(crate) struct Gate {
    /// Where the server listens.
    address: SocketAddr,
    /// Other names, perhaps with ports, in lower case.
    names: Vec<String>,
    token: Option<Token>,
}

impl Gate {
    pub(crate) fn new(address: SocketAddr, names: &[String], token: Option<Token>) -> Self {
        let names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { address, names, token }
    }

    /// Whether a request may go on.
    pub(crate) fn check<B>(&self, request: &Request<B>) -> std::result::Result<(), Failure> {
        let headers = request.headers();
        let host = one(headers, header::HOST)?.unwrap_or_default();
        // A request may name its server in the address as well.
        let named = request.uri().authority().map(|authority| authority.as_str());
        if !self.is_own(host) || named.is_some_and(|named| !named.eq_ignore_ascii_case(host)) {
            let message = format!("{:?} is no name of this server", named.unwrap_or(host));
            return Err(Failure::new(Code::Forbidden, message).hint(self.way_in()));
        }
        if let Some(origin) = one(headers, header::ORIGIN)? {
            let from = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if !from.is_some_and(|from| from.eq_ignore_ascii_case(host)) {
                let message = format!("pages of {origin:?} may not ask this server");
                return Err(Failure::new(Code::Forbidden, message)
                    .hint("only the server's own page may; programs send no Origin"));
            }
        }
        if request.uri().path().starts_with("/api/") { self.check_api(headers) } else { Ok(()) }
    }

    /// What to do about a name that is not known.
    fn way_in(&self) -> String {
        let start = "start the server with --allow-host NAME";
        // Nobody reaches a server under an address that stands for all addresses.
        if self.address.ip().is_unspecified() {
            return start.to_owned();
        }
        format!("ask for http://{}/, or {start}", self.address)
    }

    fn check_api(&self, headers: &HeaderMap) -> std::result::Result<(), Failure> {
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        if matches!(site, Some(b"cross-site" | b"same-site")) {
            return Err(Failure::new(Code::Forbidden, "pages of others may not ask this server"));
        }
        let Some(token) = &self.token else { return Ok(()) };
        let refused = |message| {
            Err(Failure::new(Code::Unauthorized, message)
                .hint("send `Authorization: Bearer TOKEN`, with the token of --token-file"))
        };
        match headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes) {
            None => refused("this server wants a token"),
            Some(sent) => match sent.split_at_checked(7) {
                Some((scheme, sent)) if scheme.eq_ignore_ascii_case(b"Bearer ") => {
                    if token.is(sent) { Ok(()) } else { refused("this is not the server's token") }
                }
                _ => refused("this server wants a token"),
            },
        }
    }

    /// Whether `host` is this server, with its port.
    fn is_own(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port),
            _ => (host.as_str(), "80"),
        };
        if self.names.iter().any(|own| *own == host || *own == name) {
            return true;
        }
        port.parse() == Ok(self.address.port()) && self.is_own_name(name)
    }

    fn is_own_name(&self, name: &str) -> bool {
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        match bare.unwrap_or(name).parse::<IpAddr>() {
            Ok(ip) => {
                ip.is_ipv6() == bare.is_some() && (ip.is_loopback() || ip == self.address.ip())
            }
            Err(_) => name == "localhost",
        }
    }
}

/// The one value of a header that comes once at most.
fn one(headers: &HeaderMap, name: HeaderName) -> std::result::Result<Option<&str>, Failure> {
    let bad = || Failure::new(Code::BadRequest, format!("the header {name} is malformed"));
    let mut values = headers.get_all(&name).iter();
    let first = values.next().map(|value| value.to_str().map_err(|_| bad())).transpose()?;
    if values.next().is_some() { Err(bad()) } else { Ok(first) }
}

/// Puts the headers of every answer in.
pub(crate) fn harden(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(gate: &Gate, path: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        match gate.check(&request.body(()).unwrap()) {
            Ok(()) => 200,
            Err(failure) => failure.response().status().as_u16(),
        }
    }

    fn gate(token: Option<&str>) -> Gate {
        let names = ["Graph.example".to_owned(), "other:99".to_owned()];
        let token = token.map(|token| Token::new(token).unwrap());
        Gate::new("127.0.0.1:7474".parse().unwrap(), &names, token)
    }

    #[test]
    fn only_own_names_are_answered() {
        let gate = gate(None);
        for (host, expected) in [
            ("127.0.0.1:7474", 200),
            ("LOCALHOST:7474", 200),
            ("127.9.9.9:7474", 200),
            ("[::1]:7474", 200),
            ("graph.example", 200),
            ("graph.example:7474", 200),
            ("other:99", 200),
            ("other:98", 403),
            ("other", 403),
            ("localhost", 403),
            ("localhost:80", 403),
            ("127.0.0.1:74740", 403),
            ("::1:7474", 403),
            ("evil.example:7474", 403),
            ("localhost.evil.example:7474", 403),
            ("10.0.0.1:7474", 403),
            ("", 403),
        ] {
            assert_eq!(status(&gate, "/", &[("host", host)]), expected, "{host:?}");
        }
        assert_eq!(status(&gate, "/", &[]), 403);
        let host = ("host", "localhost:7474");
        assert_eq!(status(&gate, "/", &[host, host]), 400);
        assert_eq!(status(&gate, "http://evil.example/", &[host]), 403);
        assert_eq!(status(&gate, "http://localhost:7474/", &[host]), 200);
    }

    #[test]
    fn hints_name_what_works() {
        let hint = |address: &str| {
            let gate = Gate::new(address.parse().unwrap(), &[], None);
            let request = Request::builder().uri("/").header("host", "graph.example");
            gate.check(&request.body(()).unwrap()).unwrap_err().hint.unwrap()
        };
        assert!(hint("127.0.0.1:7474").starts_with("ask for http://127.0.0.1:7474/, or start"));
        for address in ["0.0.0.0:7474", "[::]:7474"] {
            assert_eq!(hint(address), "start the server with --allow-host NAME");
        }
    }

    #[test]
    fn only_the_own_page_may_ask() {
        let gate = gate(None);
        let host = ("host", "localhost:7474");
        for (origin, expected) in [
            ("http://localhost:7474", 200),
            ("https://LOCALHOST:7474", 200),
            ("http://127.0.0.1:7474", 403),
            ("http://localhost:7475", 403),
            ("http://evil.example", 403),
            ("null", 403),
            ("", 403),
        ] {
            assert_eq!(status(&gate, "/", &[host, ("origin", origin)]), expected, "{origin:?}");
        }
        let other = ("sec-fetch-site", "cross-site");
        assert_eq!(status(&gate, "/api/v1/pool", &[host, other]), 403);
        assert_eq!(status(&gate, "/", &[host, other]), 200);
        assert_eq!(status(&gate, "/api/v1/pool", &[host, ("sec-fetch-site", "same-origin")]), 200);
    }

    #[test]
    fn the_token_opens_the_api() {
        let gate = gate(Some("0123456789abcdef"));
        let host = ("host", "localhost:7474");
        assert_eq!(status(&gate, "/", &[host]), 200);
        assert_eq!(status(&gate, "/api/v1/pool", &[host]), 401);
        for (sent, expected) in [
            ("Bearer 0123456789abcdef", 200),
            ("bearer 0123456789abcdef", 200),
            ("Bearer 0123456789abcdeF", 401),
            ("Bearer 0123456789abcde", 401),
            ("Bearer ", 401),
            ("Basic 0123456789abcdef", 401),
            ("0123456789abcdef", 401),
        ] {
            let found = status(&gate, "/api/v1/pool", &[host, ("authorization", sent)]);
            assert_eq!(found, expected, "{sent:?}");
        }
    }

    #[test]
    fn tokens_are_long_and_secret() {
        for text in ["", "short", "0123456789abcde", "0123456789 abcdef", "0123456789abcdéf"] {
            assert!(Token::new(text).is_err(), "{text}");
        }
        let token = Token::new("0123456789abcdef").unwrap();
        assert!(!format!("{token:?}").contains("0123"));
    }
}
