import { renderDeploy } from '../../render/deploy';
import { historyTable } from '../../render/lists';
import type { View } from '../../render/paint';
import { renderPipeline } from '../../render/pipeline';
import type { HistoryRow, OfferView } from '../../domain/views';
import { deploy, NOW, phase, pipeline } from '../builders/cliSamples';

const view: View = { width: 140, color: false, now: NOW, timeZone: 'UTC' };
const counts = { targeted: 10, updated: 4, live: 4 };
const removal = phase({
  ...{
    name: 'removal',
    removes: true,
    state: 'running',
    startedAt: new Date(NOW - 5_000).toISOString(),
    updatedAt: null,
    bakeUntil: null,
  },
  units: [{ id: 'kv-x', ...counts }],
  totals: { units: 1, ...counts },
});

test('a removal shows the tasks that are gone, and not as live ones', () => {
  const text = renderDeploy(deploy({ state: 'removing', phases: [removal], timeline: [] }), view);
  expect(text).toMatch(/removal .* removing +\S+ +4\/10 gone +removing for/);
  expect(text).not.toContain('live');
  const ended = { ...removal, state: 'succeeded', updatedAt: new Date(NOW).toISOString() } as const;
  expect(renderDeploy(deploy({ state: 'ended', phases: [ended] }), view)).toMatch(/removed in/);
});

test('the history says that an undeploy removed a version, not that it deployed it', () => {
  const removed = { action: 'deploy', version: 'kv:1', outcome: 'succeeded' };
  const row = { ...{ id: 'kv/2', state: 'succeeded', artifacts: [] }, trigger: { kind: 'undeploy' } };
  const rows = [
    { ...row, startedAt: new Date(NOW).toISOString(), durationMs: 1, deploys: [removed] } as unknown as HistoryRow,
  ];
  expect(historyTable(rows, view)).toContain('deploy kv:1 ✔ removed');
});

test('an offer that waits for its users to be removed says so', () => {
  const offer: OfferView = {
    ...{ name: 'vpc', version: null, state: 'removing', seq: 2, since: null, release: 7 },
    users: [{ user: 'auth/deploy', behind: false }],
  };
  expect(renderPipeline(pipeline({ offers: [offer] }), view)).toMatch(/vpc +◌ being removed +used by auth\/deploy/);
});
