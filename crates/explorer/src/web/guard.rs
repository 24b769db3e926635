//! Who is let in: whoever came once by the address that was printed, from this machine, and not by way of another page.

use std::io;
use std::net::SocketAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

/// The secret of one run, and the names under which it may be asked.
#[derive(Clone, Debug)]
pub struct Guard {
    token: String,
    cookie: String,
    address: SocketAddr,
}

impl Guard {
    /// A new secret for an address that is listened at.
    pub fn new(address: SocketAddr) -> io::Result<Self> {
        let mut random = [0_u8; 24];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        // Two that run on one machine share its cookies: each has its own name for it.
        let cookie = format!("keyplan_{}", address.port());
        Ok(Self { token: const_hex::encode(random), cookie, address })
    }

    /// The address that lets a browser in.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.token)
    }

    fn is_host(&self, host: &str) -> bool {
        let port = self.address.port();
        let names = [format!("{}", self.address), format!("localhost:{port}")];
        names.iter().any(|name| name.eq_ignore_ascii_case(host))
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|all| all.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == self.cookie && is_same(value, &self.token))
    }
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Lets a request through that has the cookie, or gives the cookie to one that has the token.
pub(super) async fn let_in(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    // A name that leads here by a trick of names is none of ours.
    if !host.is_some_and(|host| guard.is_host(host)) {
        return refused(StatusCode::MISDIRECTED_REQUEST, "this is not the address that was printed\n");
    }
    let query = request.uri().query().unwrap_or_default();
    let token = query.split('&').find_map(|pair| pair.strip_prefix("token="));
    if let Some(token) = token
        && request.method() == Method::GET
        && is_same(token, &guard.token)
    {
        let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("token=")).collect();
        let to = if rest.is_empty() {
            request.uri().path().to_owned()
        } else {
            format!("{}?{}", request.uri().path(), rest.join("&"))
        };
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", guard.cookie, guard.token);
        if let (Ok(to), Ok(cookie)) = (HeaderValue::try_from(to), HeaderValue::try_from(cookie)) {
            let headers = [(header::LOCATION, to), (header::SET_COOKIE, cookie)];
            return (StatusCode::SEE_OTHER, headers).into_response();
        }
    }
    if !guard.has_cookie(request.headers()) {
        return refused(
            StatusCode::UNAUTHORIZED,
            "open the address that `keyplan explore` printed: it lets this browser in\n",
        );
    }
    next.run(request).await
}

/// Refuses what another page asks for.
pub(super) async fn own_origin(request: Request, next: Next) -> Response {
    if is_foreign(request.method(), request.headers()) {
        return refused(StatusCode::FORBIDDEN, "another page asked for this\n");
    }
    next.run(request).await
}

fn is_foreign(method: &Method, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text("host").unwrap_or_default();
    let foreign_origin = text("origin").is_some_and(|origin| {
        origin.split_once("://").is_none_or(|(_, from)| !from.eq_ignore_ascii_case(host))
    });
    let foreign_site = text("sec-fetch-site").is_some_and(|site| site == "cross-site" || site == "same-site");
    let top = text("sec-fetch-mode") == Some("navigate") && method == Method::GET;
    // A request that acts must say that a page of ours sent it.
    let unsaid = method == Method::POST && text("x-keyplan").is_none();
    foreign_origin || (foreign_site && !top) || unsaid
}

fn refused(status: StatusCode, why: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (status, headers, why).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_address_itself_are_taken() {
        let guard = Guard::new("127.0.0.1:4000".parse().unwrap()).unwrap();
        assert!(guard.is_host("127.0.0.1:4000") && guard.is_host("LOCALHOST:4000"));
        for other in ["127.0.0.1", "127.0.0.1:4001", "evil.example:4000", "localhost:4000.evil.example", ""] {
            assert!(!guard.is_host(other), "{other}");
        }
        let other = Guard::new("127.0.0.1:4000".parse().unwrap()).unwrap();
        assert_ne!(guard.token, other.token);
        assert_eq!(guard.token.len(), 48);
    }

    #[test]
    fn the_cookie_must_be_whole() {
        let guard = Guard::new("127.0.0.1:4000".parse().unwrap()).unwrap();
        let with = |cookie: String| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::try_from(cookie).unwrap());
            guard.has_cookie(&headers)
        };
        assert!(with(format!("a=b; keyplan_4000={}", guard.token)));
        assert!(!with(format!("keyplan_4001={}", guard.token)));
        assert!(!with(format!("keyplan_4000={}", &guard.token[1..])));
        assert!(!with("keyplan_4000=".to_owned()));
    }
}
