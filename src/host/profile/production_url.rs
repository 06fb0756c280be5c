//! Whether a URL looks like production although its environment says otherwise.

/// A first label that marks a test environment, followed by a dot or a dash.
const TEST_LABELS: &[&str] = &[
    "qa",
    "staging",
    "stage",
    "stg",
    "test",
    "testing",
    "dev",
    "develop",
    "development",
    "uat",
    "sandbox",
    "preview",
    "demo",
    "local",
];

/// Endings of a bare product domain.
const PRODUCT_ENDINGS: &[&str] = &["com", "io", "app", "net", "org", "co", "ai", "dev"];

/// A host that says production or live, or a bare product domain without a path.
pub(super) fn looks_like_production(url: &str) -> bool {
    let Ok(url) = url::Url::parse(url) else { return false };
    let Some(host) = url.host_str() else { return false };
    let host = host.to_ascii_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let is_test = TEST_LABELS
        .iter()
        .any(|label| host.strip_prefix(label).is_some_and(|rest| rest.starts_with(['.', '-'])));
    if is_test {
        return false;
    }
    let says_so = host
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| matches!(word, "prod" | "production" | "live"));
    says_so || (is_bare_product(host) && matches!(url.path(), "" | "/"))
}

fn is_bare_product(host: &str) -> bool {
    host.split_once('.').is_some_and(|(name, ending)| !name.is_empty() && PRODUCT_ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::looks_like_production;

    #[test]
    fn hosts_that_look_like_production() {
        for url in [
            "https://prod.shop.test",
            "https://shop-live.test/x",
            "https://shop.com",
            "https://www.shop.io/",
            "https://production.qa.shop.test",
        ] {
            assert!(looks_like_production(url), "{url}");
        }
        for url in [
            "https://qa.prod.shop.test",
            "https://staging-live.shop.test",
            "https://www.dev.prod.test",
            "https://shop.test",
            "https://shop.com/qa",
            "https://alive.shop.test",
            "https://delivery.shop.test",
            "https://app.shop.com",
            "no url",
        ] {
            assert!(!looks_like_production(url), "{url}");
        }
    }
}
