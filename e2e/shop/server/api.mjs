// The shop's REST and GraphQL interface. Every write is entered in the ledger as it arrives, before anything else.
import { searchProducts } from './data.mjs';

const json = (status, body, headers = {}) => ({ status, body: JSON.stringify(body), type: 'application/json', headers });

/// Answers `{status, body, type, headers}`, or null when the path is none of the API's. `request` is
/// `{method, path, query, body, cookies, host}`.
export function api(data, request) {
  const { method, path, query, body } = request;
  const id = Number(/\/(\d+)$/.exec(path)?.[1]);
  const known = (list) => list.find((entry) => entry.id === id);

  if (path === '/api/session') {
    const { user, password } = parse(body);
    if (method !== 'POST' || password !== 'correct horse') return json(401, { error: 'Unknown account or wrong password' });
    return json(200, { user }, { 'set-cookie': `user=${encodeURIComponent(user)}; Path=/; SameSite=Lax` });
  }
  if (path === '/api/products' && method === 'GET') return json(200, searchProducts(data, query));
  if (path === '/api/products' && method === 'POST') {
    const { name, price } = parse(body);
    if (!name?.trim()) return json(422, { error: 'A product needs a name' });
    const product = { id: data.nextId++, name, category: 'New', price: Number(price) || 0, stock: 0 };
    data.products.push(product);
    return json(201, product);
  }
  if (path.startsWith('/api/products/')) {
    const product = known(data.products);
    if (!product) return json(404, { error: 'No such product' });
    if (method === 'DELETE') data.products.splice(data.products.indexOf(product), 1);
    if (method === 'PATCH') Object.assign(product, parse(body));
    return json(200, product);
  }
  if (path === '/api/orders/search') return json(200, data.orders.filter((order) => order.status === parse(body).status));
  if (path === '/api/orders' && method === 'GET') return json(200, data.orders);
  if (path === '/api/orders' && method === 'POST') {
    const order = { id: data.nextId++, status: 'open', ...parse(body) };
    data.orders.push(order);
    return json(201, order);
  }
  if (path.startsWith('/api/orders')) {
    const order = known(data.orders);
    if (method === 'DELETE' && order) data.orders.splice(data.orders.indexOf(order), 1);
    return json(order || method === 'POST' ? 200 : 404, order ?? {});
  }
  if (path === '/graphql') return json(200, graphql(data, parse(body)));
  return null;
}

function graphql(data, { query = '', variables = {} }) {
  if (/^\s*mutation\b/.test(query)) {
    const review = { id: data.nextId++, ...variables };
    data.reviews.push(review);
    return { data: { addReview: review } };
  }
  return { data: { reviews: data.reviews } };
}

/// Whether a request changes something in this shop.
export function isWrite({ method, path, body }) {
  if (path === '/api/session' || path === '/api/orders/search') return false;
  if (path === '/graphql') return /^\s*mutation\b/.test(parse(body).query ?? '');
  return !['GET', 'HEAD', 'OPTIONS'].includes(method);
}

function parse(body) {
  try {
    return JSON.parse(body) ?? {};
  } catch {
    return Object.fromEntries(new URLSearchParams(body));
  }
}
