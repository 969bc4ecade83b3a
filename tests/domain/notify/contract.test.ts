import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import { buildNoticeRequest, type Format, type NoticeRequest } from '../../../domain/notify/format';
import { FORMAT_NAMES, findFormat, formatFor, KEYLESS_FORMATS, type FormatName } from '../../../domain/notify/formats';
import { linkNotice } from '../../../domain/notify/link';
import { NOTIFY_ON, type Notice } from '../../../domain/notify/notice';
import { readRetryAfterMs } from '../../../domain/notify/retryAfter';
import { REVERTED } from '../../builders/notices';

const RECEIVERS = join(__dirname, '../../fixtures/receivers');
const ajv = new Ajv();
const accepts = (schema: string) =>
  ajv.compile(JSON.parse(readFileSync(join(RECEIVERS, `${schema}.schema.json`), 'utf8')) as object);

const KEY = 'k'.repeat(32);
const COMMIT = 'a'.repeat(40);
const NOTICE: Notice = {
  ...REVERTED,
  id: 'deploy/kvstore/12/deploy/1/reverted',
  artifacts: [
    { name: 'data', version: '1' },
    { name: 'executable', version: 'kv:12', builtFrom: { repository: 'acme/kvstore', revision: COMMIT } },
  ],
};
/** Long, of several lines, and full of the marks with which services make links, mentions and emphasis. */
const NASTY = `<!channel> <script>alert(1)</script> [x](http://evil.example) **b** @here\n%%%\n\u202e${'😀'.repeat(20_000)}`;
const LINK = 'https://conveyor.example.org/releases/kvstore/12/deploy';

function request(format: FormatName, notice: Partial<Notice> = {}, link: string | null = LINK): NoticeRequest {
  const built = buildNoticeRequest(findFormat(format)!, { ...NOTICE, ...notice }, { key: KEY, link });
  if (built === undefined) throw new Error(`${format} has no place for it`);
  return built;
}

const nameSchema = (format: FormatName, { path = '' }: NoticeRequest): string =>
  format === 'opsgenie' ? `opsgenie-${path === '' ? 'create' : 'close'}` : format;

describe.each(['teams', 'pagerduty', 'opsgenie', 'github', 'gitlab', 'grafana', 'datadog'] as const)(
  '%s gets the documents that it describes',
  (format) => {
    test.each(NOTIFY_ON)('for the event %s, of a deploy and of a release, with and without pages', (on) => {
      for (const deploy of [NOTICE.deploy, null])
        for (const link of [LINK, null])
          for (const reason of [NOTICE.reason, NASTY]) {
            const built = request(format, { on, deploy, reason, actor: 'user:alice' }, link);
            const isValid = accepts(nameSchema(format, built));
            expect([isValid(built.body), isValid.errors]).toEqual([true, null]);
          }
    });
  },
);

describe.each(['teams', 'pagerduty', 'opsgenie', 'grafana', 'datadog'] as const)(
  'a page is what %s documents',
  (format) => {
    test.each(['on-call', 'answered', 'settled'] as const)('for the step %s', (on) => {
      for (const reason of [NOTICE.reason, NASTY]) {
        const built = request(format, { on, reason });
        const isValid = accepts(nameSchema(format, built));
        expect([isValid(built.body), isValid.errors]).toEqual([true, null]);
      }
    });
  },
);

test('a page has an incident of its own, which is opened, acknowledged and resolved', () => {
  const events = (['on-call', 'answered', 'settled'] as const).map((on) => request('pagerduty', { on }).body);
  expect(events).toMatchObject(
    ['trigger', 'acknowledge', 'resolve'].map((step) => ({
      event_action: step,
      dedup_key: 'conveyor/kvstore/12/deploy',
    })),
  );
});

test('a page is no status of a commit', () => {
  for (const format of ['github', 'gitlab'] as const)
    expect(buildNoticeRequest(findFormat(format)!, { ...NOTICE, on: 'on-call' }, {})).toBeUndefined();
});

describe('a service for people on call', () => {
  test('has one incident for each release, which opens with a pause or a revert and ends with the release', () => {
    const events = (['paused', 'reverted', 'succeeded'] as const).map(
      (on) => request('pagerduty', { on, deploy: on === 'succeeded' ? null : NOTICE.deploy }).body,
    );
    expect(events).toMatchObject([
      {
        event_action: 'trigger',
        dedup_key: 'conveyor/kvstore/12',
        payload: { severity: 'warning', source: 'kvstore' },
      },
      { event_action: 'trigger', dedup_key: 'conveyor/kvstore/12', payload: { severity: 'error' } },
      { event_action: 'resolve', dedup_key: 'conveyor/kvstore/12', routing_key: KEY },
    ]);
  });

  test('Opsgenie closes the alert by its alias, with the key in a header and nowhere else', () => {
    const { body, ...rest } = request('opsgenie', { on: 'succeeded' });
    expect(rest).toEqual({
      path: '/conveyor%2Fkvstore%2F12/close?identifierType=alias',
      headers: { authorization: `GenieKey ${KEY}` },
    });
    expect(JSON.stringify(body)).not.toContain(KEY);
  });
});

describe('a forge', () => {
  test('shows the status at the commit from which the artifact was built', () => {
    expect(request('github').path).toBe(`/repos/acme/kvstore/statuses/${COMMIT}`);
    expect(request('gitlab').path).toBe(`/projects/acme%2Fkvstore/statuses/${COMMIT}`);
    expect(request('github', { on: 'succeeded', deploy: null }).body).toMatchObject({
      state: 'success',
      context: 'conveyor/kvstore',
      target_url: LINK,
    });
  });

  test.each<[string, Notice['artifacts']]>([
    ['no commit', [{ name: 'data', version: '1' }]],
    ['a revision that is none', [{ name: 'x', version: '1', builtFrom: { repository: 'acme/kv', revision: '../..' } }]],
    [
      'a repository that is a way elsewhere',
      [{ name: 'x', version: '1', builtFrom: { repository: 'a/../b', revision: COMMIT } }],
    ],
  ])('gets nothing for an artifact with %s', (_title, artifacts) => {
    expect(buildNoticeRequest(findFormat('github')!, { ...NOTICE, artifacts }, {})).toBeUndefined();
  });
});

test('Grafana makes no element of a text', () => {
  const { text } = request('grafana', { reason: NASTY }).body as { text: string };
  expect(text).toContain('&lt;script&gt;');
  expect(text).not.toContain('<script');
});

const isComplete = ({ needsKey, needsMailbox }: Format): boolean => !needsKey && !needsMailbox;

test('a format of a service without keys may stand in a pipeline file, and no other may', () => {
  expect(FORMAT_NAMES.filter((name) => isComplete(findFormat(name)!))).toEqual(KEYLESS_FORMATS);
});

test.each([
  ['prod-01.westeurope.logic.azure.com', 'application/json'],
  ['default1.environment.api.powerplatform.com', 'application/json'],
  ['logic.azure.com.example.org', 'application/cloudevents+json; charset=utf-8'],
])('the webhooks of Teams get cards without being told: %s', (host, contentType) =>
  expect(formatFor(host)?.contentType).toBe(contentType),
);

test('a link leads to the deploy, or to the release, and there is none where the platform has no pages', () => {
  expect(linkNotice('https://conveyor.example.org', NOTICE)).toBe(LINK);
  expect(linkNotice('https://conveyor.example.org', { ...NOTICE, deploy: null })).toBe(LINK.replace(/\/deploy$/, ''));
  expect(linkNotice(null, NOTICE)).toBeNull();
});

test.each<[string | null, number | undefined]>([
  [null, undefined],
  ['30', 30_000],
  ['0', 1_000],
  ['86400', 600_000],
  ['Mon, 23 Nov 2026 17:01:00 GMT', 60_000],
  ['Mon, 23 Nov 2020 17:01:00 GMT', 1_000],
  ['soon', undefined],
])('a receiver that asks for a wait of %s gets it, within ten minutes', (header, ms) => {
  expect(readRetryAfterMs(header, Date.parse(NOTICE.at))).toBe(ms);
});
