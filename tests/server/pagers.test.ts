import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PageAcknowledgement } from '../../client/answerPage';
import { ACCESS, appOf, FakePipelines } from '../builders/serverWorld';

const RECEIVERS = join(__dirname, '../fixtures/receivers');
const readSample = (name: string): string => readFileSync(join(RECEIVERS, `${name}-acknowledged.json`), 'utf8');
const [PAGERDUTY, OPSGENIE] = [readSample('pagerduty'), readSample('opsgenie')];

const SECRET = 'a secret of PagerDuty, long enough';
const TOKEN = 'a-token-for-opsgenie-long-enough';
const AT = Date.parse('2026-11-23T17:12:22.169Z');
const OF = { kind: 'action', pipeline: 'kvstore', number: 12, action: 'deploy' };

let told: PageAcknowledgement[];
let isRunning: boolean;
beforeEach(() => ([told, isRunning] = [[], true]));

const app = (pagers: typeof ACCESS.pagers = PAGERS, nowMs = AT) =>
  appOf(new FakePipelines(), {
    access: { ...ACCESS, pagers },
    now: () => nowMs,
    answerPage: (answer) => {
      told.push(answer);
      return Promise.resolve(isRunning);
    },
  });

const PAGERS = {
  pagerduty: { secrets: [SECRET], secretEnvs: ['P'] },
  opsgenie: { secrets: [TOKEN], secretEnvs: ['O'] },
};

const sign = (body: string, secret = SECRET): string => `v1=${createHmac('sha256', secret).update(body).digest('hex')}`;

async function post(
  service: 'pagerduty' | 'opsgenie',
  body: string,
  headers: Record<string, string>,
  over?: ReturnType<typeof app>,
) {
  const { status } = await (over ?? app()).request(`/v1/webhooks/${service}`, { method: 'POST', body, headers });
  return status;
}

const pagerduty = (body = PAGERDUTY, signature = sign(body)) =>
  post('pagerduty', body, { 'x-pagerduty-signature': signature });
const change = (fields: object): string => {
  const { event } = JSON.parse(PAGERDUTY) as { event: { data: object } };
  return JSON.stringify({ event: { ...event, ...fields } });
};

describe('an acknowledgement in PagerDuty', () => {
  test('reaches the release, with the name of the person', async () => {
    expect(await pagerduty()).toBe(202);
    expect(told).toEqual([{ of: OF, by: 'Tenex Engineer in PagerDuty', atMs: AT }]);
  });

  test('is accepted with one of several signatures, as while a secret is replaced', async () => {
    expect(await pagerduty(PAGERDUTY, `${sign(PAGERDUTY, 'the secret before')},${sign(PAGERDUTY)}`)).toBe(202);
  });

  test.each([
    ['of another secret', sign(PAGERDUTY, 'a secret of a stranger')],
    ['of another body', sign(`${PAGERDUTY} `)],
    ['of a version that is unknown', sign(PAGERDUTY).replace('v1', 'v0')],
    ['of no digits', 'v1='],
    ['that is missing', ''],
  ])('is refused with a signature %s', async (_title, signature) => {
    expect(await pagerduty(PAGERDUTY, signature)).toBe(401);
    expect(told).toEqual([]);
  });

  test.each<[string, string]>([
    ['of another kind of event', change({ event_type: 'incident.triggered' })],
    [
      'by a program, such as Conveyor itself',
      change({ agent: { type: 'inbound_integration_reference', summary: 'API' } }),
    ],
    ['by none', change({ agent: null })],
    ['of an incident of another service', change({ data: { type: 'incident', incident_key: 'd3640fbd41094207' } })],
    ['of an incident without a key', change({ data: { type: 'incident' } })],
    ['of a pipeline', change({ data: { incident_key: 'conveyor/kvstore' } })],
  ])('%s changes nothing', async (_title, body) => {
    expect(await pagerduty(body)).toBe(204);
    expect(told).toEqual([]);
  });

  test('that was recorded days ago is refused', async () => {
    const headers = { 'x-pagerduty-signature': sign(PAGERDUTY) };
    expect(await post('pagerduty', PAGERDUTY, headers, app(PAGERS, AT + 72 * 3_600_000))).toBe(400);
    expect(told).toEqual([]);
  });

  test('about a release that has ended is answered, so that PagerDuty does not deliver it again', async () => {
    isRunning = false;
    expect(await pagerduty()).toBe(204);
  });

  test('names a person on one line, however the name is written', async () => {
    const summary = `Eve\n\u001b[2J${'x'.repeat(500)}`;
    await pagerduty(change({ agent: { type: 'user_reference', summary } }));
    expect(told[0]?.by).toMatch(/^Eve \\u001b\[2Jx{80,} in PagerDuty$/);
    expect(told[0]?.by.length).toBeLessThan(130);
  });
});

describe('an acknowledgement in Opsgenie', () => {
  test('reaches the release, with its token', async () => {
    expect(await post('opsgenie', OPSGENIE, { authorization: `Bearer ${TOKEN}` })).toBe(202);
    expect(told).toEqual([{ of: OF, by: 'admin@example.com in Opsgenie', atMs: AT }]);
  });

  test.each([{ authorization: 'Bearer another token' }, {}])('is refused with the headers %j', async (headers) => {
    expect(await post('opsgenie', OPSGENIE, headers as Record<string, string>)).toBe(401);
    expect(told).toEqual([]);
  });
});

test.each(['pagerduty', 'opsgenie'] as const)(
  'a server without the secret of %s accepts no report',
  async (service) => {
    const headers = { 'x-pagerduty-signature': sign(PAGERDUTY), authorization: `Bearer ${TOKEN}` };
    expect(await post(service, service === 'pagerduty' ? PAGERDUTY : OPSGENIE, headers, app({}))).toBe(503);
  },
);
