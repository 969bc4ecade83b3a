import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describeFaults } from './faultStories';
import { PROTOCOLS } from './faultWorld';

test('the services of these tests speak every protocol that there is', () => {
  const folder = join(__dirname, '../../sdk/protocol');
  const protocols = readdirSync(folder).flatMap((file) => {
    const exported = Object.entries(jest.requireActual<object>(join(folder, file)));
    return exported.flatMap(([name, protocol]) => (name.endsWith('Protocol') ? [protocol as object] : []));
  });
  expect(new Set(Object.values(PROTOCOLS))).toEqual(new Set(protocols));
  expect(protocols).toHaveLength(Object.keys(PROTOCOLS).length);
});

describeFaults('when nothing goes wrong', { trouble: null });
describeFaults('when replies are lost', { trouble: { mode: 'lose-reply', count: 2 } });
describeFaults('when calls arrive twice', { trouble: { mode: 'duplicate', count: 9 } });
describeFaults('when calls fail', { trouble: { mode: 'error', count: 3 } });
describeFaults('when answers are late', { trouble: { mode: 'delay', count: 5, delayMs: 5_000 } });
describeFaults('when bodies are garbled', { trouble: { mode: 'garbage', count: 1 }, minded: true });
