// The pages of the two applications. Plain HTML with a little script in each: what a host under test looks like to the
// guard, not how one should write a shop.

const escape = (text) => String(text).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

const page = (title, main, nav = '') => ({
  status: 200,
  type: 'text/html; charset=utf-8',
  body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css"></head>
<body><header><strong>Corner Shop</strong> ${nav}</header><main><h1>${title}</h1>${main}</main></body></html>`,
});

const storeNav = (user) => `<nav><a href="/">Catalogue</a> <a href="/basket">Basket</a> <a href="/orders">Orders</a>
  ${user ? `<span>Signed in as ${escape(user)}</span>` : '<a href="/login">Sign in</a>'}</nav>`;

const render = `
const row = (product) => '<li data-testid="product"><a href="/products/' + product.id + '">' + product.name + '</a> '
  + '<span class="price">€ ' + product.price + '</span></li>';`;

const catalogue = `<form id="filters" role="search"><label>Search <input name="q" type="search" maxlength="40"></label>
<label>Category <select name="category"><option value="">All</option><option>Furniture</option><option>Lighting</option>
<option>Textiles</option></select></label> <button type="reset">Reset filters</button></form>
<p role="status"></p><ul id="products"></ul>
<script>${render}
const form = document.getElementById('filters');
async function show() {
  const query = new URLSearchParams(new FormData(form));
  const products = await (await fetch('/api/products?' + query)).json();
  document.getElementById('products').innerHTML = products.map(row).join('');
  document.querySelector('[role=status]').textContent = products.length === 0 ? 'No product matches'
    : products.length + (products.length === 1 ? ' product' : ' products');
}
form.addEventListener('input', show);
form.addEventListener('reset', () => setTimeout(show));
form.addEventListener('submit', (event) => event.preventDefault());
show();
</script>`;

const product = ({ id, name, category, price, stock }) => `<p>${escape(category)}</p><p class="price">€ ${price}</p>
<p>${stock > 0 ? `${stock} in stock` : 'Sold out'}</p>
<label>Quantity <input id="quantity" type="number" min="1" max="9" value="1"></label>
<button id="add" ${stock > 0 ? '' : 'disabled'}>Add to basket</button> <p role="alert"></p>
<script>
document.getElementById('add').addEventListener('click', () => {
  const quantity = Number(document.getElementById('quantity').value);
  const alert = document.querySelector('[role=alert]');
  if (!(quantity >= 1 && quantity <= 9)) return void (alert.textContent = 'Choose a quantity from 1 to 9');
  const basket = JSON.parse(localStorage.basket || '[]');
  basket.push({ id: ${id}, product: ${JSON.stringify(name)}, quantity });
  localStorage.basket = JSON.stringify(basket);
  alert.textContent = quantity + ' in the basket';
});
</script>`;

const basket = `<ul id="lines"></ul><button id="order">Place order</button><p role="status"></p>
<script>
const basket = JSON.parse(localStorage.basket || '[]');
const lines = document.getElementById('lines');
for (const line of basket) lines.append(Object.assign(document.createElement('li'), { textContent: line.quantity + ' × ' + line.product }));
if (basket.length === 0) document.querySelector('[role=status]').textContent = 'The basket is empty';
document.getElementById('order').addEventListener('click', async () => {
  const response = await fetch('/api/orders', { method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify(basket[0] || { product: 'Gift card', quantity: 1 }) }).catch(() => ({ ok: false }));
  document.querySelector('[role=status]').textContent = response.ok ? 'Order placed' : 'The order could not be placed';
});
</script>`;

const orders = (list) => `<table><thead><tr><th>Order</th><th>Product</th><th>Status</th><th></th></tr></thead><tbody>
${list.map((order) => `<tr><td>${order.id}</td><td>${escape(order.product)}</td><td>${escape(order.status)}</td>
<td><button data-id="${order.id}">Delete</button></td></tr>`).join('')}</tbody></table>
<script>
document.querySelector('tbody').addEventListener('click', async (event) => {
  if (!event.target.dataset.id) return;
  await fetch('/api/orders/' + event.target.dataset.id, { method: 'DELETE' });
  event.target.closest('tr').remove();
});
</script>`;

const login = `<form id="login"><label>Account <input name="user" autocomplete="username"></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label><button>Sign in</button></form>
<p role="alert"></p>
<script>
document.getElementById('login').addEventListener('submit', async (event) => {
  event.preventDefault();
  const response = await fetch('/api/session', { method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(new FormData(event.target))) });
  if (response.ok) location.href = '/';
  else document.querySelector('[role=alert]').textContent = (await response.json()).error;
});
</script>`;

// Ways in which a page writes without a control. The query says on whose behalf, and each request carries it on.
const outlets = `<a id="popup" target="_blank">Offer</a> <button id="worker">Work offline</button> <p role="status"></p>
<script>
const say = (text) => document.querySelector('[role=status]').textContent = text;
document.getElementById('popup').href = '/outlets/popup' + location.search;
if (location.hash === '#beacon') {
  addEventListener('pagehide', () => navigator.sendBeacon('/api/orders/beacon' + location.search, '{"product":"beacon"}'));
}
document.getElementById('worker').addEventListener('click', async () => {
  await navigator.serviceWorker.register('/sw.js');
  const { active } = await navigator.serviceWorker.ready;
  const channel = new MessageChannel();
  channel.port1.onmessage = ({ data }) => say('worker: ' + data);
  active.postMessage(location.search, [channel.port2]);
});
</script>`;

const popup = `<p>Today only</p><script>
fetch('/api/orders/popup' + location.search, { method: 'POST', body: '{}' }).then((r) => document.title = 'answered ' + r.status);
</script>`;

export const serviceWorker = `
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('message', (event) => event.waitUntil(
  fetch('/api/orders/worker' + event.data, { method: 'POST', body: '{}' }).then(
    (response) => event.ports[0].postMessage(response.status), (error) => event.ports[0].postMessage('failed'))));
`;

const live = `<p role="status">connecting</p><ul id="feed"></ul>
<script>
const status = document.querySelector('[role=status]');
const socket = new WebSocket(location.origin.replace('http', 'ws') + '/ws/' + (location.hash.slice(1) || 'stock'));
socket.onopen = () => { status.textContent = 'live'; socket.send('hello'); };
socket.onmessage = ({ data }) => document.getElementById('feed').append(Object.assign(document.createElement('li'), { textContent: data }));
socket.onerror = () => status.textContent = 'refused';
</script>`;

export const galleryImages = 50;
const gallery = `<div>${Array.from({ length: galleryImages }, (_, i) => `<img src="/images/${i}.svg" width="40" height="40" alt="">`).join('')}</div>`;

const adminNav = '<nav><a href="/">Products</a></nav>';
const admin = (products) => `<form id="new"><label>Name <input name="name"></label> <label>Price <input name="price" type="number"></label>
<button>Save</button></form><p role="alert"></p>
<table><thead><tr><th>Name</th><th>Price</th><th></th></tr></thead><tbody>${products
  .map((p) => `<tr><td>${escape(p.name)}</td><td>€ ${p.price}</td><td><button data-id="${p.id}">Delete</button></td></tr>`)
  .join('')}</tbody></table>
<dialog id="sure"><p></p><button value="yes">Delete</button> <button value="no">Keep</button></dialog>
<script>
document.getElementById('new').addEventListener('submit', async (event) => {
  event.preventDefault();
  const response = await fetch('/api/products', { method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(new FormData(event.target))) });
  if (response.ok) location.reload();
  else document.querySelector('[role=alert]').textContent = (await response.json()).error || 'Not saved';
});
const dialog = document.getElementById('sure');
document.querySelector('tbody').addEventListener('click', ({ target }) => {
  if (!target.dataset.id) return;
  dialog.querySelector('p').textContent = 'Delete ' + target.closest('tr').cells[0].textContent + '?';
  dialog.dataset.id = target.dataset.id;
  dialog.showModal();
});
dialog.addEventListener('click', async ({ target }) => {
  if (target.value === 'yes') await fetch('/api/products/' + dialog.dataset.id, { method: 'DELETE' });
  if (target.value === 'yes') location.reload();
  if (target.value) dialog.close();
});
</script>`;

/// The page at a path, or null.
export function pageFor(data, { path, host, cookies }) {
  if (host.startsWith('admin.')) return path === '/' ? page('Products', admin(data.products), adminNav) : null;
  const nav = storeNav(cookies.user);
  const one = /^\/products\/(\d+)$/.exec(path);
  if (one) {
    const found = data.products.find((entry) => entry.id === Number(one[1]));
    return found ? page(escape(found.name), product(found), nav) : { ...page('Not found', '<p>There is no such product</p>', nav), status: 404 };
  }
  switch (path) {
    case '/': return page('Catalogue', catalogue, nav);
    case '/basket': return page('Basket', basket, nav);
    case '/orders': return cookies.user ? page('Orders', orders(data.orders), nav) : page('Orders', '<p>Sign in to see your orders</p>', nav);
    case '/login': return page('Sign in', login, nav);
    case '/outlets': return page('Outlets', outlets, nav);
    case '/outlets/popup': return page('Offer', popup, nav);
    case '/live': return page('Live', live, nav);
    case '/gallery': return page('Gallery', gallery, nav);
    default: return null;
  }
}
