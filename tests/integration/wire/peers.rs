//! What users of such proxies report.
