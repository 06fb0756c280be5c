//! `qa-pilot`: guards Playwright suites and gates what they claim.
