import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { freePorts } from '../../cli/stack/ports';
import { startFront, type Front } from './front';
import { secured } from './secured';
import { given, type Given, type Service } from './service';
import { Stack } from './stack';

/** A person who has nothing but a browser, at a server with a real identity provider. */

const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'];
const SLOW_MS = 240_000;
const SIGNING_SECRET = 'a signing secret of the system tests';
const SLACK_USER = 'U012AB3CD';

/** Each phase can be watched, and no verdict waits for long. */
const SLOW_PHASES: Given = {
  restartMs: 300,
  deploy: { phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '6s' }] },
};

const inBrowser = existsSync(EXECUTABLE) ? describe : describe.skip;
if (!existsSync(EXECUTABLE)) console.warn(`no page was opened: there is no browser at ${EXECUTABLE}`);

inBrowser('a person with a browser', () => {
  let stack: Stack;
  let front: Front;
  let browser: Browser | undefined;
  beforeAll(async () => {
    const [providerPort = 0, port = 0] = await freePorts(2);
    const issuer = `http://127.0.0.1:${providerPort}`;
    const pages = { client: 'conveyor-pages', secretEnv: 'CONVEYOR_OIDC_SECRET', scopes: ['openid', 'offline_access'] };
    stack = await Stack.open(
      secured(
        {
          signIn: [{ issuer, pages, groups: 'groups' }],
          sessions: { url: `http://localhost:${port}`, secretEnv: 'CONVEYOR_SESSION_SECRET' },
          slack: {
            secretEnv: 'SLACK_SIGNING_SECRET',
            tokenEnv: 'SLACK_BOT_TOKEN',
            users: { [SLACK_USER]: 'user:alice' },
          },
        },
        {
          CONVEYOR_OIDC_SECRET: 'a client secret of the system tests',
          CONVEYOR_SESSION_SECRET: 'a session secret of the system tests, long enough',
          SLACK_SIGNING_SECRET: SIGNING_SECRET,
          SLACK_BOT_TOKEN: 'xoxb-a-token-of-the-system-tests',
        },
      ),
    );
    const callback = `http://localhost:${port}/sign-in/callback`;
    const provider = stack.processes.node(
      'tests/system/identityProvider.mjs',
      [String(providerPort), '3600', callback],
      stack.env,
    );
    await provider.said(/ready/);
    front = { ...(await startFront(stack, port)), url: `http://localhost:${port}` };
    const { chromium } = await import('playwright-core');
    browser = await chromium.launch({ executablePath: EXECUTABLE, args: ARGS });
  }, SLOW_MS);
  afterAll(async () => {
    await browser?.close();
    await stack.close();
  });

  /** Opens a page; the provider asks for the name first. */
  async function signIn(login: string, path: string): Promise<Page> {
    const page = await (await browser!.newContext()).newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`${front.url}${path}`);
    await page.fill('[name="login"]', login);
    await page.fill('[name="password"]', 'x');
    await page.click('[type="submit"]');
    await page.click('[type="submit"]');
    await page.waitForURL(`${front.url}${path}`);
    return page;
  }

  /** A button, then the form that says what it will do. */
  async function press(page: Page, verb: string, reason: string, fields: Readonly<Record<string, string>> = {}) {
    await page.click(`[action$="/commands/${verb}"] button`);
    for (const [name, value] of Object.entries(fields)) await page.fill(`[name="${name}"]`, value);
    await page.fill('#confirm textarea', reason);
    await page.click('#confirm button[type="submit"]');
  }

  /** Waits until a page that stays open shows a text. */
  const shows = (page: Page, selector: string, text: string): Promise<void> =>
    page.locator(selector).filter({ hasText: text }).first().waitFor();

  test(
    'signs in with the provider, starts a release, and watches it from the version to the fleet on one open page',
    async () => {
      const shop = await given(stack, SLOW_PHASES);
      const page = await signIn('alice', `/pipelines/${shop.name}`);
      await press(page, 'release', 'the new search', { 'version.executable': shop.version(2) });
      await page.waitForURL(({ pathname }) => pathname === `/releases/${shop.name}/1`);
      await shows(page, '#done', `${shop.name}/1: it is started`);
      await page.locator(`a[href="/releases/${shop.name}/1/deploy"]`).first().click();
      await page.evaluate('window.mark = 1');
      await shows(page, 'h1', 'baking');
      await shows(page, 'h1', 'succeeded');
      expect(await page.evaluate('window.mark')).toBe(1);
      expect(await shop.runs()).toEqual({ 2: 12 });
      await page.context().close();
    },
    SLOW_MS,
  );

  /** A deploy that is paused so that no verdict reverts it, with a version that fails. */
  async function shipBadly(): Promise<Service> {
    const shop = await given(stack, SLOW_PHASES);
    await shop.behaves(2, { errorRatio: 0.5 });
    await shop.ships(2);
    await shop.isIn(1, 'baking');
    return shop;
  }

  test(
    'sees the values of a bad version over its limit, reverts it by a button, and finds that in the audit',
    async () => {
      const shop = await shipBadly();
      await stack.client.command(`${shop.name}/1/deploy`, 'pause', {
        actor: 'user:alice',
        reason: 'a look',
        noRevert: true,
      });
      const page = await signIn('alice', `/releases/${shop.name}/1/deploy`);
      await shows(page, '#health', 'unhealthy');
      await page.locator('#health svg .line.bad').first().waitFor();
      expect(await page.locator('#health figcaption').first().textContent()).toContain('dashed: limit');
      await press(page, 'revert', 'customers see errors');
      await shows(page, 'h1', 'reverted');
      expect(await shop.runs()).toEqual({ 1: 12 });
      await page.goto(`${front.url}/audit?pipeline=${shop.name}`);
      const row = page.locator('tr').filter({ hasText: 'customers see errors' });
      expect(await row.first().textContent()).toMatch(/user:alice.*revert/);
      await page.context().close();
    },
    SLOW_MS,
  );

  test(
    'does the same in the dialog of Slack, by its signed request alone',
    async () => {
      const shop = await shipBadly();
      await stack.client.command(`${shop.name}/1/deploy`, 'pause', {
        actor: 'user:alice',
        reason: 'a look',
        noRevert: true,
      });
      const submit = (secret: string): Promise<Response> => {
        const payload = {
          type: 'view_submission',
          user: { id: SLACK_USER },
          view: {
            id: 'VNHU13V36',
            private_metadata: `revert ${shop.name}/1/deploy`,
            state: { values: { reason: { text: { type: 'plain_text_input', value: 'seen in the channel' } } } },
          },
        };
        const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
        const timestamp = String(Math.floor(Date.now() / 1000));
        const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
        const headers = { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${signature}` };
        return fetch(`${front.url}/v1/webhooks/slack`, { method: 'POST', body, headers });
      };
      expect((await submit('a secret of another app, long enough')).status).toBe(401);
      expect(await (await submit(SIGNING_SECRET)).json()).toMatchObject({ response_action: 'update' });
      await shop.ended(1);
      expect(await shop.runs()).toEqual({ 1: 12 });
      const page = await signIn('alice', `/audit?pipeline=${shop.name}`);
      await shows(page, 'tr', 'seen in the channel');
      await page.context().close();
    },
    SLOW_MS,
  );
});
