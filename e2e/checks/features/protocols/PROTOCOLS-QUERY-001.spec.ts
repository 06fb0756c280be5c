import { expect, test } from '../write-guard';

test('PROTOCOLS-QUERY-001: a GraphQL query', async ({ page }) => {
  await page.goto('/');
  const answer = await page.evaluate(async () => {
    const response = await fetch('/graphql', { method: 'POST', body: JSON.stringify({ query: 'query { reviews { id } }' }) });
    return { status: response.status, body: await response.json() };
  });
  expect(answer).toEqual({ status: 200, body: { data: { reviews: [] } } });
});
