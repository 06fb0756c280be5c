// What the shop sells, and what it has been told: all in memory, fresh at each start.

const names = [
  ['Oak desk', 'Furniture', 349], ['Reading lamp', 'Lighting', 59], ['Wool rug', 'Textiles', 129],
  ['Floor lamp', 'Lighting', 139], ['Bookshelf', 'Furniture', 219], ['Linen curtain', 'Textiles', 49],
  ['Office chair', 'Furniture', 279], ['Desk lamp', 'Lighting', 45], ['Cushion', 'Textiles', 19],
  ['Side table', 'Furniture', 89], ['Pendant light', 'Lighting', 99], ['Throw blanket', 'Textiles', 39],
];

export function makeData() {
  const products = names.map(([name, category, price], i) => ({ id: i + 1, name, category, price, stock: (i * 7) % 11 }));
  const orders = [
    { id: 101, product: 'Oak desk', quantity: 1, status: 'shipped' },
    { id: 102, product: 'Cushion', quantity: 4, status: 'open' },
  ];
  return {
    products,
    orders,
    reviews: [],
    // Each request that changed something, or would have on another shop: what really arrived, in order.
    ledger: [],
    nextId: 1000,
  };
}

export function searchProducts(data, { q = '', category = '' }) {
  const wanted = q.trim().toLowerCase();
  return data.products.filter(
    (product) => product.name.toLowerCase().includes(wanted) && (category === '' || product.category === category),
  );
}
