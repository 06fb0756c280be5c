import { expect, test } from '../write-guard';

test('PROTOCOLS-MUTATION-001: a GraphQL mutation at the same URL', async ({ page }) => {
  await page.goto('/');
  const status = await page.evaluate(async () => {
    const body = JSON.stringify({ query: 'mutation Add($text: String!) { addReview(text: $text) { id } }', variables: { text: 'x' } });
    return (await fetch('/graphql', { method: 'POST', body })).status;
  });
  expect(status).toBe(403);
});
