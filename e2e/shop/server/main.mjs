// Starts the shop by hand:  node server/main.mjs [--https 7443] [--http 7080] [--ca FILE]
// Prints one line when it is ready, and stops on a signal.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startShop } from './shop.mjs';

const { values } = parseArgs({
  options: {
    https: { type: 'string', default: '7443' },
    http: { type: 'string', default: '7080' },
    ca: { type: 'string', default: 'shop-ca.pem' },
  },
});
const shop = await startShop({ httpsPort: Number(values.https), httpPort: Number(values.http) });
writeFileSync(values.ca, shop.ca);
process.stdout.write(`${JSON.stringify({ shop: shop.shop, admin: shop.admin, plain: shop.plain, ca: values.ca })}\n`);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void shop.close().then(() => process.exit(0)));
