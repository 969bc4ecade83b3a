import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describeFaults } from './faultStories';
import { PROTOCOLS } from './faultWorld';

/**
 * Protocols between a push type and the service that judges for it: whatever happens there, a push type answers
 * `errored`. Faults of dependency graphs are in bugs.long.test.ts and features/bugs/activities/dependencyGraphs.test.ts, those of
 * tickets in freshness.long.test.ts and features/freshness/activities/tickets.long.test.ts.
 */
const ELSEWHERE = ['healthServiceProtocol', 'dependencyGraphProtocol', 'ticketProtocol'];

test('the services of these tests speak every protocol that Conveyor or the fleet does', () => {
  const folder = join(__dirname, '../../sdk/protocol');
  const protocols = readdirSync(folder)
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => Object.entries(jest.requireActual<Record<string, unknown>>(join(folder, file))))
    .filter(([name]) => name.endsWith('Protocol'));
  const spoken = new Set<unknown>(Object.values(PROTOCOLS));
  const others = protocols.flatMap(([name, protocol]) => (spoken.has(protocol) ? [] : [name]));
  expect(protocols.length).toBeGreaterThanOrEqual(spoken.size);
  expect(others.filter((name) => !ELSEWHERE.includes(name))).toEqual([]);
});

describeFaults('when nothing goes wrong', { trouble: null });
describeFaults('when replies are lost', { trouble: { mode: 'lose-reply', count: 2 } });
describeFaults('when calls arrive twice', { trouble: { mode: 'duplicate', count: 9 } });
describeFaults('when calls fail', { trouble: { mode: 'error', count: 3 } });
describeFaults('when answers are late', { trouble: { mode: 'delay', count: 5, delayMs: 5_000 } });
describeFaults('when bodies are garbled', { trouble: { mode: 'garbage', count: 1 }, minded: true });
