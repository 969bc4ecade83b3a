import type { Format, ReceiverFacts } from './format';
import { isPage, type Notice, type NotifyOn } from './notice';
import { cutHeadline } from './words';

/**
 * The status of the commit from which the first artifact with a known one was built: GitHub's and GitLab's. Each deploy has a status of its own, and
 * so has the release. A release without such an artifact has none.
 */

/** The key is a token that may write commit statuses. */
export const githubStatus: Format = {
  contentType: 'application/json',
  home: 'https://api.github.com',
  needsKey: true,
  headers: (key) => ({
    authorization: `Bearer ${key}`,
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
    'user-agent': 'conveyor',
  }),
  path: (notice) => {
    const commit = findCommit(notice);
    if (commit === undefined || !/^[\w.-]+\/[\w.-]+$/.test(commit.repository)) return undefined;
    return `/repos/${commit.repository}/statuses/${commit.revision}`;
  },
  body: (notice, { link = null }: ReceiverFacts = {}) => ({
    state: findCommitState(GITHUB_STATES, notice),
    context: nameStatus(notice),
    description: cutHeadline(notice, GITHUB_LENGTH),
    ...(link === null ? {} : { target_url: link }),
  }),
};

/** The key is a token of a project or group with the scope `api`. */
export const gitlab: Format = {
  contentType: 'application/json',
  home: 'https://gitlab.com/api/v4',
  needsKey: true,
  headers: (key) => ({ 'private-token': key }),
  path: (notice) => {
    const commit = findCommit(notice);
    return commit && `/projects/${encodeURIComponent(commit.repository)}/statuses/${commit.revision}`;
  },
  body: (notice, { link = null }: ReceiverFacts = {}) => ({
    state: findCommitState(GITLAB_STATES, notice),
    name: nameStatus(notice),
    description: cutHeadline(notice, GITLAB_LENGTH),
    ...(link === null ? {} : { target_url: link }),
  }),
};

const GITHUB_LENGTH = 140;
const GITLAB_LENGTH = 255;

/** `conveyor/kvstore/deploy`, without the number of the release: a later release replaces the status. */
const nameStatus = ({ pipeline, deploy }: Notice): string =>
  ['conveyor', pipeline, ...(deploy === null ? [] : [deploy.split('/').at(-1)])].join('/');

/** A page is about people, not about the commit: `findCommit` finds none for it. */
const findCommitState = <T>(states: Readonly<Record<NotifyOn, T>>, { on }: Notice): T | undefined =>
  isPage(on) ? undefined : states[on];

function findCommit({ on, artifacts }: Notice): { readonly repository: string; readonly revision: string } | undefined {
  if (isPage(on)) return undefined;
  const sources = artifacts.flatMap(({ builtFrom }) => builtFrom ?? []);
  return sources.find(({ repository, revision }) => /^[0-9a-f]{40,64}$/i.test(revision) && repository !== '');
}

const GITHUB_STATES: Readonly<Record<NotifyOn, 'success' | 'pending' | 'failure' | 'error'>> = {
  succeeded: 'success',
  paused: 'pending',
  reverted: 'failure',
  failed: 'failure',
  cancelled: 'error',
  expired: 'error',
  'offer-broken': 'failure',
};

const GITLAB_STATES: Readonly<Record<NotifyOn, 'success' | 'running' | 'failed' | 'canceled'>> = {
  succeeded: 'success',
  paused: 'running',
  reverted: 'failed',
  failed: 'failed',
  cancelled: 'canceled',
  expired: 'canceled',
  'offer-broken': 'failed',
};
