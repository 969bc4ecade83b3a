// The site of `npm run docs` (scripts/docs.js lays out its pages). Neither the build nor a page fetches anything.
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** GitHub's anchors, so that a link works the same in both places. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replace(/ /g, '-');

const page = (text, link) => ({ text, link });

export default {
  title: 'Conveyor',
  description: 'Deploys services, models and configuration in phases, and takes a bad version back by itself',
  head: [
    [
      'link',
      {
        rel: 'icon',
        href: 'data:image/svg+xml,<svg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 16 16%22><path d=%22M2 11h12M5 11V6h6v5%22 fill=%22none%22 stroke=%22%233451b2%22 stroke-width=%222%22/></svg>',
      },
    ],
  ],
  srcDir: `${ROOT}/dist/site-pages`,
  outDir: `${ROOT}/dist/site`,
  cacheDir: `${ROOT}/dist/.vitepress`,
  cleanUrls: false,
  lastUpdated: false,
  ignoreDeadLinks: 'localhostLinks', // the Web UI of the reader's own stack; any other dead link fails the build
  markdown: {
    anchor: { slugify },
    toc: { slugify },
    headers: { slugify },
    theme: { light: 'github-light', dark: 'github-dark' },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      page('Tutorial', '/docs/tutorial/service'),
      page('Pipelines', '/docs/reference/pipelines'),
      page('Command line', '/docs/reference/cli'),
      page('Contents', '/docs/'),
    ],
    sidebar: [
      {
        text: 'Begin',
        items: [page('Conveyor', '/'), page('Tutorial', '/docs/tutorial/service'), page('Contents', '/docs/')],
      },
      {
        text: 'Write pipelines',
        items: [
          page('Pipelines', '/docs/reference/pipelines'),
          page('Two teams', '/docs/tutorial/teams'),
          page('Health checks', '/docs/reference/health'),
          page('Scripts', '/docs/reference/scripts'),
          page('Configuration in five minutes', '/docs/tutorial/configuration'),
          page('Configuration', '/docs/guides/configuration'),
        ],
      },
      {
        text: 'Run it',
        items: [
          page('Operating', '/docs/guides/operate'),
          page('Pages', '/docs/guides/pages'),
          page('A cluster', '/docs/guides/cluster'),
          page('Securing', '/docs/guides/secure'),
          page('Signed artifacts', '/docs/guides/signing'),
          page('Notifications', '/docs/guides/notify'),
          page('Freshness', '/docs/guides/freshness'),
          page('The audit', '/docs/guides/audit'),
          page('Bugs', '/docs/guides/bugs'),
          page('Statistics', '/docs/guides/stats'),
          page('Advice', '/docs/guides/advise'),
          page('Configuration on a host', '/docs/guides/config-proxy'),
          page('Models', '/docs/guides/models'),
          page('The agent of a host', '/docs/guides/agent'),
          page('I have a cluster', '/docs/guides/kubernetes'),
          page('I have thirty servers', '/docs/guides/hosts'),
          page('I deploy by Git', '/docs/guides/gitops'),
          page('I have a million devices', '/docs/guides/slowroll'),
          page('Who may do what', '/docs/reference/access'),
          page('Access matrix', '/docs/reference/access-matrix'),
        ],
      },
      {
        text: 'Configuration',
        items: [
          page('Gatekeeper', '/docs/guides/gatekeeper'),
          page('Sitevars', '/docs/guides/sitevars'),
          page('Mobile configuration', '/docs/guides/mobile-config'),
        ],
      },
      {
        text: 'Look up',
        items: [
          page('Command line', '/docs/reference/cli'),
          page('Commands by state', '/docs/reference/commands'),
          page('Errors', '/docs/errors'),
          page('HTTP API', '/docs/reference/api'),
          page('Limits', '/docs/reference/limits'),
          page('The agent', '/docs/reference/agent'),
          page('Kubernetes', '/docs/reference/kubernetes'),
          page('Hosts over SSH', '/docs/reference/hosts'),
          page('Deploys by commits', '/docs/reference/git-commit'),
          page('Hosts that poll', '/docs/reference/slowroll'),
          page('Glossary', '/docs/glossary'),
        ],
      },
      {
        text: 'Extend',
        items: [
          page('Extending', '/docs/guides/extend'),
          page('Protocols', '/docs/reference/protocols'),
          page('The simulated fleet', '/docs/reference/fleet'),
          page('A push type', '/examples/push-types/processes/'),
          page('A push type in Python', '/examples/push-types/python/'),
          page('Task controllers', '/examples/controllers/'),
          page('CI', '/examples/ci/'),
        ],
      },
      {
        text: 'Understand',
        items: [
          page('Overview', '/docs/design/overview'),
          page('Workflows', '/docs/design/workflows'),
          page('A deploy', '/docs/design/deploy'),
          page('Pipelines and releases', '/docs/design/pipeline'),
          page('Offers', '/docs/design/offers'),
          page('Health', '/docs/design/health'),
          page('Configuration inside', '/docs/design/config'),
          page('The simulated fleet inside', '/docs/design/fleet'),
          page('Decisions', '/docs/adr/'),
          page('Papers', '/docs/papers'),
          page('Published figures', '/docs/reproduction'),
        ],
      },
      {
        text: 'Change it',
        items: [
          page('Architecture', '/ARCHITECTURE'),
          page('Contributing', '/CONTRIBUTING'),
          page('Changelog', '/CHANGELOG'),
          page('Measurements', '/bench/'),
        ],
      },
    ],
  },
};
