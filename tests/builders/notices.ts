import type { Notice } from '../../domain/notify/notice';

/** Its reason has the marks that formats must escape. */
export const REVERTED: Notice = {
  id: 'deploy/kvstore/12/deploy/1/reverted/1',
  on: 'reverted',
  at: '2026-11-23T17:00:00.000Z',
  pipeline: 'kvstore',
  release: 'kvstore/12',
  deploy: 'kvstore/12/deploy',
  phase: 'half',
  pushType: 'twine',
  artifacts: [{ name: 'executable', version: 'kv:12' }],
  reason: 'errors is 0.2 & rising, above the limit of <0.05>',
  actor: null,
};
