import { FLEET_LIMITS } from './fleet/limits';

/**
 * The limits of all input, and of everything that grows in a pipeline's workflow. A workflow carries its whole state
 * from one history to the next in one payload, which Temporal refuses above 2 MB and warns about from 512 kB. A
 * pipeline that outgrew that could never continue or answer again. Input over its limit is refused. If a pipeline's
 * memory is over its limit, the oldest entries go. `docs/reference/limits.md` is generated from this table, and a test
 * fills all of it.
 */
export interface Limit {
  /** Its name in a refusal. */
  readonly of: string;
  readonly max: number;
  readonly unit: 'bytes' | 'entries';
  /** The treatment of an excess. */
  readonly more: 'refused' | 'cut' | 'shortened' | 'waits' | 'holds' | 'joined';
  readonly why: string;
}

const KB = 1024;

const refuseAbove = (of: string, max: number, unit: Limit['unit'], why: string): Limit => ({
  ...{ of, max, unit, why },
  more: 'refused',
});
const cut = (of: string, max: number, unit: Limit['unit'], why: string): Limit => ({
  ...{ of, max, unit, why },
  more: 'cut',
});

const SENT_ALONG = 'every release and deploy gets it, and a pipeline remembers it';
const ONE_ATTRIBUTE = 'Temporal accepts 2 kB per search attribute, and ends a workflow that sets more';
const IN_STATE = 'it is part of the 512 kB state of a pipeline';
const IN_SPEC = 'the pipeline and each of its releases carry the whole file';
const TO_READ = 'people have to read the file';
const ON_RECORD = 'it is recorded';

/** Limits of an artifact from a person, the API, a webhook, a finder or an action service. */
export const ARTIFACT_LIMITS = {
  name: refuseAbove('the name', 63, 'bytes', 'ids contain it'),
  kind: refuseAbove('the kind', 63, 'bytes', SENT_ALONG),
  version: refuseAbove('the version', 200, 'bytes', SENT_ALONG),
  digest: refuseAbove('the digest', 160, 'bytes', 'sha512 in hexadecimal takes 135 bytes'),
  uri: refuseAbove('the uri', 512, 'bytes', SENT_ALONG),
  producedBy: refuseAbove('producedBy', 128, 'bytes', SENT_ALONG),
  repository: refuseAbove('builtFrom.repository', 256, 'bytes', SENT_ALONG),
  revision: refuseAbove('builtFrom.revision', 128, 'bytes', SENT_ALONG),
  target: refuseAbove('builtFrom.target', 256, 'bytes', SENT_ALONG),
  metadataEntries: refuseAbove('the number of entries of metadata', 32, 'entries', SENT_ALONG),
  metadataKey: refuseAbove('a key of metadata', 64, 'bytes', SENT_ALONG),
  metadataValue: refuseAbove('an entry of metadata', 1 * KB, 'bytes', SENT_ALONG),
  metadata: refuseAbove('the metadata', 2 * KB, 'bytes', SENT_ALONG),
  whole: refuseAbove('an artifact as a whole', 4 * KB, 'bytes', SENT_ALONG),
} as const satisfies Record<string, Limit>;

/** Limits of everything else in a request, a command or a signal. */
export const REQUEST_LIMITS = {
  artifacts: refuseAbove('the number of artifacts of a release', 16, 'entries', SENT_ALONG),
  artifactsTogether: refuseAbove('the total size of the artifacts of a release', 24 * KB, 'bytes', SENT_ALONG),
  outputs: refuseAbove('the number of outputs of a run', 16, 'entries', 'its release carries them'),
  key: refuseAbove('an idempotency key', 200, 'bytes', 'a pipeline remembers the newest keys'),
  actor: refuseAbove('an actor', 128, 'bytes', ON_RECORD),
  reason: refuseAbove('a reason', 1000, 'bytes', ON_RECORD),
  word: refuseAbove('a name in a command', 640, 'bytes', 'an artifact as name@version#digest fits'),
  workflowId: refuseAbove('a workflow id', 255, 'bytes', 'Temporal accepts none longer'),
  answer: refuseAbove('the answer of a server', 64 * 1024 * KB, 'bytes', 'the command line keeps all of it in memory'),
  rows: refuseAbove(
    'the number of rows of a list over HTTP',
    1000,
    'entries',
    'a server sends all of them in one answer',
  ),
  groups: refuseAbove('the total size of the members of groups that may command', 12 * KB, 'bytes', SENT_ALONG),
} as const satisfies Record<string, Limit>;

/** Limits of a pipeline file. */
export const SPEC_LIMITS = {
  spec: refuseAbove('the pipeline as a whole', 64 * KB, 'bytes', IN_SPEC),
  file: refuseAbove('a pipeline file', 1024 * KB, 'bytes', TO_READ),
  fileValues: refuseAbove(
    'the number of keys and values of a pipeline file, with its anchors expanded',
    50_000,
    'entries',
    TO_READ,
  ),
  description: refuseAbove('the description', 2000, 'bytes', IN_SPEC),
  owners: refuseAbove('the number of owners', 50, 'entries', ONE_ATTRIBUTE),
  ownersTogether: refuseAbove('the total size of the owners', 2000, 'bytes', ONE_ATTRIBUTE),
  principal: refuseAbove('a principal', 128, 'bytes', IN_SPEC),
  labels: refuseAbove('the number of labels', 50, 'entries', ONE_ATTRIBUTE),
  labelsTogether: refuseAbove('the total size of the labels', 2000, 'bytes', ONE_ATTRIBUTE),
  labelKey: refuseAbove('the key of a label', 63, 'bytes', 'the key and the value are one keyword of 255'),
  labelValue: refuseAbove('the value of a label', 128, 'bytes', 'the key and the value are one keyword of 255'),
  artifacts: refuseAbove('the number of artifacts', 16, 'entries', IN_STATE),
  finder: refuseAbove('the name of a finder', 63, 'bytes', ONE_ATTRIBUTE),
  finderWith: refuseAbove('the with of a finder', 2 * KB, 'bytes', 'each sweep reads it from the memo of the pipeline'),
  actions: refuseAbove('the number of actions', 64, 'entries', IN_STATE),
  templates: refuseAbove('the number of templates', 32, 'entries', TO_READ),
  params: refuseAbove('the number of parameters of a template', 32, 'entries', TO_READ),
  axes: refuseAbove(
    'the number of parameters of a matrix',
    4,
    'entries',
    'the name of each action contains all of them',
  ),
  axisValues: refuseAbove(
    'the number of values of a parameter in a matrix',
    64,
    'entries',
    'each makes at least one action',
  ),
  combinations: refuseAbove('the number of combinations of a matrix', 64, 'entries', 'a pipeline has no more actions'),
  excludes: refuseAbove(
    'the number of combinations that a matrix leaves out',
    64,
    'entries',
    'a matrix has no more combinations',
  ),
  deployInputs: refuseAbove(
    'the number of inputs of all deploys and canaries',
    12,
    'entries',
    'a pipeline remembers the inputs of good deploys',
  ),
  needs: refuseAbove('the number of needs of an action', 64, 'entries', IN_SPEC),
  inputs: refuseAbove('the number of inputs of an action', 16, 'entries', IN_SPEC),
  outputs: refuseAbove('the number of outputs of an action', 16, 'entries', IN_SPEC),
  outputsTogether: refuseAbove('the number of outputs of all actions', 32, 'entries', 'a release carries them'),
  when: refuseAbove('the number of conditions of an action', 16, 'entries', IN_SPEC),
  whenIn: refuseAbove('the number of values of a condition', 32, 'entries', IN_SPEC),
  actionMutex: refuseAbove('the number of exclusion groups of an action', 4, 'entries', IN_STATE),
  mutex: refuseAbove('the number of exclusion groups', 32, 'entries', IN_STATE),
  actionWith: refuseAbove('the with of an action', 16 * KB, 'bytes', 'every run gets it'),
  config: refuseAbove('the config of a deploy', 16 * KB, 'bytes', 'every call to its push type carries it'),
  phases: refuseAbove(
    'the number of phases as written',
    FLEET_LIMITS.phases - 1,
    'entries',
    'the completion is one more; phases made by forEach count, too',
  ),
  units: refuseAbove('the number of units of a deploy', FLEET_LIMITS.units, 'entries', 'one plan covers all of them'),
  steps: refuseAbove('the number of steps before or after a phase', 16, 'entries', IN_SPEC),
  stepWith: refuseAbove('the with of a step', 4 * KB, 'bytes', 'every run gets it'),
  healthChecks: refuseAbove('the number of health checks', 64, 'entries', IN_SPEC),
  transforms: refuseAbove('the number of transforms of a check', 16, 'entries', IN_SPEC),
  lookback: refuseAbove(
    'the number of minutes that a check looks back',
    7 * 24 * 60,
    'entries',
    'it reads one point per minute for every task',
  ),
  duration: refuseAbove('the number of days of a duration', 36500, 'entries', 'its end has to be a valid date'),
  evaluations: refuseAbove(
    'the number of evaluations that a check counts',
    50,
    'entries',
    'a heartbeat carries their results',
  ),
  arguments: refuseAbove('the number of arguments of a command', 64, 'entries', IN_SPEC),
  argument: refuseAbove('an argument of a command', 1 * KB, 'bytes', IN_SPEC),
  variables: refuseAbove('the number of variables of a script', 64, 'entries', IN_SPEC),
  principals: refuseAbove('the number of people who may pick', 50, 'entries', IN_SPEC),
  children: refuseAbove('the number of children listed by name', 500, 'entries', 'a label can select more'),
  childLabels: refuseAbove('the number of labels that select children', 16, 'entries', IN_SPEC),
  childArtifacts: refuseAbove('the number of artifacts for children', 16, 'entries', IN_SPEC),
  notify: refuseAbove('the number of notifications', 20, 'entries', IN_SPEC),
  events: refuseAbove('the number of events of a notification', 7, 'entries', 'there are no others'),
  blackouts: refuseAbove(
    'the number of blackouts of a pipeline or an action',
    100,
    'entries',
    'each of its deploys carries them',
  ),
  calendarFile: refuseAbove('a calendar that blackouts are read from', 1024 * KB, 'bytes', 'it is read with the file'),
  calendarEvents: refuseAbove('the number of events of a calendar', 2000, 'entries', 'each is checked day by day'),
  maxDeploys: refuseAbove(
    'maxDeploys of a window',
    10,
    'entries',
    'the pipeline remembers that many deploys of each action',
  ),
  windows: refuseAbove('the number of windows of an action', 16, 'entries', 'each of its deploys carries them'),
  days: refuseAbove('the number of days of a window', 7, 'entries', 'a week has no more'),
  url: refuseAbove('a URL', 1 * KB, 'bytes', IN_SPEC),
  word: refuseAbove('a name or a line', 200, 'bytes', IN_SPEC),
  maxActive: refuseAbove('maxActive', 50, 'entries', 'a pipeline starts only as many as it has room for'),
  offers: refuseAbove('the number of offers', 100, 'entries', 'one workflow keeps all of them'),
  wishes: refuseAbove('the number of wishes', 100, 'entries', 'each deploy asks for all of its wishes'),
  offerVersion: refuseAbove('the version of an offer or a wish', 64, 'bytes', IN_SPEC),
  offerTo: refuseAbove('a pattern in to of an offer', 63, 'bytes', 'no name is longer'),
  offerTos: refuseAbove('the number of patterns in to of an offer', 32, 'entries', IN_SPEC),
  offerValue: refuseAbove('the value of an offer', 8 * KB, 'bytes', 'each deploy that wishes for it reads it'),
  offerSchema: refuseAbove(
    'the schema of an offer or a wish',
    2 * KB,
    'bytes',
    'each deploy that uses the offer carries it',
  ),
  offersTogether: refuseAbove('the total size of the offers and wishes', 16 * KB, 'bytes', IN_SPEC),
  retries: refuseAbove('the number of attempts', 100, 'entries', 'each is in the history of the release'),
} as const satisfies Record<string, Limit>;

const AT_EACH_REQUEST = 'each request is checked against all of them';

/** Limits of `platform` in the configuration. */
export const ACCESS_LIMITS = {
  rules: refuseAbove('the number of rules of a list under platform', 1000, 'entries', AT_EACH_REQUEST),
  patterns: refuseAbove('the number of patterns of a rule', 100, 'entries', AT_EACH_REQUEST),
  pattern: refuseAbove('a pattern', 200, 'bytes', 'no name is longer'),
  stars: refuseAbove('the number of * in a pattern', 8, 'entries', AT_EACH_REQUEST),
  principals: refuseAbove('the number of principals of a rule', 100, 'entries', 'a group can hold more'),
  checks: refuseAbove('the number of checks that a rule requires', 16, 'entries', 'a deploy has few checks'),
  approvals: refuseAbove(
    'the number of people who approve an action',
    100,
    'entries',
    'each is checked against all rules',
  ),
  keys: refuseAbove('the number of signing keys', 50, 'entries', 'each signature is checked against all of them'),
  key: refuseAbove('a signing key', 1 * KB, 'bytes', 'an Ed25519 or P-256 key takes less than 200 bytes'),
} as const satisfies Record<string, Limit>;

const shortenAbove = (of: string, max: number, unit: Limit['unit'], why: string): Limit => ({
  ...{ of, max, unit, why },
  more: 'shortened',
});

/** Limits of script output, which the history of the release or deploy keeps. */
export const LOG_LIMITS = {
  log: shortenAbove(
    'the log of a script',
    64 * KB,
    'bytes',
    'Temporal accepts histories of up to 50 MB, and warns from 10 MB',
  ),
  logs: shortenAbove(
    'the number of scripts of a release or deploy with such a log',
    32,
    'entries',
    'later scripts keep less',
  ),
  laterLog: shortenAbove('the log of a later script', 4 * KB, 'bytes', 'so that all of them together stay under 10 MB'),
  laterLogs: shortenAbove(
    'the number of scripts of a release or deploy with either log',
    256,
    'entries',
    'only many retries lead to more',
  ),
  lastLog: shortenAbove('the log of any further script', 512, 'bytes', 'so that all of them together stay under 10 MB'),
  liveLog: shortenAbove('the log of a running script', 16 * KB, 'bytes', 'a heartbeat carries it every second'),
} as const satisfies Record<string, Limit>;

const A_RECORD = 'the audit keeps it for a long time';

/** Limits of audit records. */
export const AUDIT_LIMITS = {
  actor: shortenAbove('an actor in the audit', 256, 'bytes', A_RECORD),
  target: shortenAbove('the target of a record', 256, 'bytes', A_RECORD),
  reason: shortenAbove('a reason in the audit', 1000, 'bytes', A_RECORD),
  result: shortenAbove('the result in a record', 1000, 'bytes', A_RECORD),
  changes: shortenAbove('the number of changes of a record', 20, 'entries', 'the record keeps the number of others'),
  path: shortenAbove('the path of a change', 256, 'bytes', A_RECORD),
  value: shortenAbove('a value before or after a change', 200, 'bytes', A_RECORD),
  refusals: cut('refusals per minute that are recorded one by one', 120, 'entries', 'one record counts the rest'),
  refusalsOfSource: cut('such refusals of one source', 10, 'entries', 'one record counts the rest'),
  refusalSources: cut('the sources of refusals per minute', 1000, 'entries', 'the rest is counted'),
  waiting: refuseAbove('the records that wait for a disk', 10_000, 'entries', 'changes are refused meanwhile'),
} as const satisfies Record<string, Limit>;

/** Limits of sessions of pages. */
export const SESSION_LIMITS = {
  cookie: refuseAbove('the session of a page, encrypted', 3_800, 'bytes', 'a browser keeps no larger cookie'),
  form: refuseAbove('a form of a page', 64 * KB, 'bytes', 'the server keeps all of it in memory'),
  to: refuseAbove('the path to which a sign-in leads back', 1_000, 'bytes', 'a cookie holds it meanwhile'),
  looks: cut('the sign-outs whose state a server remembers', 20_000, 'entries', 'it looks them up again'),
  renewals: cut(
    'the renewals that a server remembers for ten minutes',
    10_000,
    'entries',
    'it asks the provider again',
  ),
} as const satisfies Record<string, Limit>;

const EACH_HOST = 'each host that asks for it keeps it';

/** Limits of a gate. */
export const GATE_LIMITS = {
  project: refuseAbove('the project', 1024 * KB, 'bytes', 'it is one value of the configuration'),
  rules: refuseAbove('the number of rules of a project', 100, 'entries', 'a check tries one after the other'),
  restraints: refuseAbove('the number of restraints of a rule', 32, 'entries', 'a check tries one after the other'),
  listed: refuseAbove('the number of texts of a list', 10_000, 'entries', EACH_HOST),
  text: refuseAbove('a text of a list', 200, 'bytes', EACH_HOST),
  days: refuseAbove('the number of days for which a user counts as new', 3650, 'entries', 'that is long enough'),
  projects: refuseAbove('the number of projects that a process watches', 10_000, 'entries', EACH_HOST),
} as const satisfies Record<string, Limit>;

/** Limits of a sitevar, and of the comparison of its shape. */
export const SITEVAR_LIMITS = {
  value: refuseAbove('a sitevar', 64 * KB, 'bytes', 'people write it by hand; a larger one is a configuration'),
  depth: cut('the depth to which the shape of a sitevar is known', 16, 'entries', 'deeper levels are not compared'),
  history: cut(
    'the past values that its shape is inferred from',
    100,
    'entries',
    'older values say little about its present shape',
  ),
  deviations: cut('the deviations that are shown', 20, 'entries', 'more would be too many to read'),
  checks: refuseAbove('the number of reasons of a checker', 20, 'entries', 'more would be too many to read'),
} as const satisfies Record<string, Limit>;

const TO_A_PHONE = 'phones download it';

/** Limits of pulls by apps. */
export const MOBILE_LIMITS = {
  configs: refuseAbove('the number of configs of a translation or a pull', 100, 'entries', TO_A_PHONE),
  fields: refuseAbove('the number of fields of a config', 200, 'entries', TO_A_PHONE),
  text: refuseAbove('a text of a field', 4 * KB, 'bytes', TO_A_PHONE),
  request: refuseAbove('a pull', 256 * KB, 'bytes', 'any client may send one'),
  answer: refuseAbove('the answer to a pull', 1024 * KB, 'bytes', TO_A_PHONE),
  schemas: cut('the number of schemas that a service knows', 10_000, 'entries', 'clients send forgotten schemas again'),
} as const satisfies Record<string, Limit>;

/** Limits of a pipeline's state; together they always stay below `state`. */
export const STATE_LIMITS = {
  state: cut('the state of a pipeline', 512 * KB, 'bytes', 'Temporal warns from this size, and refuses from 2 MB'),
  queued: refuseAbove('the number of releases that wait', 200, 'entries', IN_STATE),
  queuedTogether: refuseAbove('the total size of the releases that wait', 72 * KB, 'bytes', IN_STATE),
  running: { ...cut('the total size of the releases that run', 64 * KB, 'bytes', IN_STATE), more: 'waits' },
  emergencies: refuseAbove('the total size of the emergencies under way', 20 * KB, 'bytes', IN_STATE),
  followOns: cut('the number of follow-ons under way', 24, 'entries', 'more are shown as left behind'),
  followOnUnits: cut(
    'the total size of the units of all follow-ons',
    8 * KB,
    'bytes',
    'the number of others is kept and shown',
  ),
  good: cut('the record of good deploys', 44 * KB, 'bytes', 'the newest two of each deploy action stay'),
  ranEach: shortenAbove('the record of which units of a fleet ran which version', 600, 'bytes', IN_STATE),
  heldIds: cut(
    'the list of units that a good deploy held',
    4 * KB,
    'bytes',
    'a complete list is kept elsewhere for some weeks',
  ),
  goodPerAction: cut('the number of good deploys of an action', 10, 'entries', IN_STATE),
  followed: cut('the versions that others replaced', 16 * KB, 'bytes', 'beyond it, numbers and times give the order'),
  followedPerArtifact: cut('the number of replaced versions of an artifact', 50, 'entries', IN_STATE),
  uses: cut(
    'the pipelines whose offers its deploys use',
    4 * KB,
    'bytes',
    'a person ends the use of the offers of those left out',
  ),
  usesPerAction: cut('the number of pipelines whose offers an action uses', 100, 'entries', IN_STATE),
  late: cut('the number of artifacts that came too late', 10, 'entries', IN_STATE),
  early: cut('the artifacts that came before the version they follow', 12 * KB, 'bytes', IN_STATE),
  open: cut(
    'the work left open by a release that was ended from outside',
    512,
    'bytes',
    'the number of other entries is kept',
  ),
  inheritedSettled: cut(
    'the number of units that have settled since',
    3 * FLEET_LIMITS.leftOut,
    'entries',
    'their previous versions go with them',
  ),
  inheritedLeft: cut(
    'the number of versions that were left behind',
    20,
    'entries',
    'later deploys have replaced older ones',
  ),
  inherited: cut(
    'the record of versions that deploys left on units',
    40 * KB,
    'bytes',
    'the oldest entries lose their previous versions first, which are counted',
  ),
  knownBad: {
    ...cut('the list of known-bad artifacts', 48 * KB, 'bytes', 'nothing on the list is ever dropped'),
    more: 'holds',
  },
  knownBadBeforeHold: {
    ...cut(
      'the list of known-bad artifacts before a hold',
      28 * KB,
      'bytes',
      'the rest is reserved for running deploys',
    ),
    more: 'holds',
  },
  inputs: refuseAbove('the total size of the latest artifacts', 24 * KB, 'bytes', IN_STATE),
  keys: cut('the number of idempotency keys', 1000, 'entries', IN_STATE),
  keysTogether: cut(
    'the total size of idempotency keys',
    64 * KB,
    'bytes',
    'fewer are kept if the rest of the state needs the room',
  ),
  keysAtLeast: cut('the idempotency keys that are always kept', 24 * KB, 'bytes', IN_STATE),
  history: cut('the number of ended releases', 100, 'entries', IN_STATE),
  historyTogether: cut(
    'the total size of ended releases',
    96 * KB,
    'bytes',
    'fewer are kept if the rest of the state needs the room',
  ),
  historyAtLeast: cut('the ended releases that are always kept', 32 * KB, 'bytes', IN_STATE),
  historyRow: cut('one ended release', 8 * KB, 'bytes', 'its lists are cut, and their lengths are kept'),
  commands: cut('the number of accepted commands', 100, 'entries', IN_STATE),
  refusedCommands: cut('the number of refused commands', 20, 'entries', 'they never displace accepted commands'),
  proofs: cut('the number of accepted requests that are remembered', 50, 'entries', 'an older request is refused'),
  listedOutcomes: cut('the ends of releases that lists show of a pipeline', 10, 'entries', 'its memo carries them'),
  stoppedReason: cut('the reason why a pipeline is stopped, in lists', 200, 'bytes', 'its memo carries it'),
  badReason: cut('the reason why an artifact is known-bad', 200, 'bytes', IN_STATE),
  commandsTogether: cut('the total size of accepted commands', 12 * KB, 'bytes', IN_STATE),
  refusedCommandsTogether: cut('the total size of refused commands', 3 * KB, 'bytes', IN_STATE),
  releaseActions: refuseAbove('the number of actions of a release that ask its pipeline', 64, 'entries', IN_STATE),
  begunAt: cut(
    'the number of start times of deploys of an action',
    10,
    'entries',
    'they are kept only if a window counts deploys',
  ),
  begun: cut('the number of actions with a known newest begun release', 128, 'entries', IN_STATE),
} as const satisfies Record<string, Limit>;

const ITS_OFFERS = 'the workflow of the offers carries it';

/** Limits of the offers of a pipeline and of their users. */
export const OFFER_LIMITS = {
  values: refuseAbove('the total size of the values of the offers of a deploy', 16 * KB, 'bytes', ITS_OFFERS),
  parts: refuseAbove('the number of parts of offers that a deploy uses', 64, 'entries', ITS_OFFERS),
  users: {
    ...refuseAbove(
      'the number of deploys of other pipelines that use the offers of a pipeline',
      10_000,
      'entries',
      ITS_OFFERS,
    ),
    more: 'waits',
  },
  outside: cut(
    'the ranges of its users that the version of an offer is not in',
    20,
    'entries',
    'the Web UI names no more users at risk; `status` names all',
  ),
  notified: cut(
    'the pipelines that are notified of offers that one deploy has broken',
    200,
    'entries',
    'the release notifies them and carries the notices',
  ),
  made: {
    ...refuseAbove(
      'the offers of a pipeline with their users, as its next deploy makes them',
      1_024 * KB,
      'bytes',
      ITS_OFFERS,
    ),
    more: 'waits',
  },
  places: cut(
    'the deploys of a pipeline whose newest release its offers know',
    100,
    'entries',
    'deploys of the file may be renamed',
  ),
  noticesAtOnce: {
    ...cut(
      'the notices about withdrawn offers that are on their way at once',
      100,
      'entries',
      'Temporal refuses a workflow thousands of messages at once',
    ),
    more: 'waits',
  },
  board: { ...refuseAbove('the offers of a pipeline with their users', 768 * KB, 'bytes', ITS_OFFERS), more: 'waits' },
  unfit: cut(
    'the number of users in the list of those that a deploy does not fit',
    50,
    'entries',
    'each answer about them is an event in the history of the release',
  ),
  unfitWhy: {
    ...cut('the reason why a deploy does not fit a user', 200, 'bytes', 'the list has 50 of them'),
    more: 'shortened',
  },
  exported: cut('the number of users of its offers in the export of a pipeline', 500, 'entries', 'people read them'),
} as const satisfies Record<string, Limit>;

const ITS_LOCK = 'the lock of the service carries it';

/** Limits of the knowledge that a service's lock keeps across pipelines. */
export const SERVICE_LIMITS = {
  bringers: cut('the deploys of other pipelines that are known', 16, 'entries', ITS_LOCK),
  brought: cut('the total size of the records of these deploys', 256 * KB, 'bytes', ITS_LOCK),
  broughtEach: refuseAbove('the record of one of these deploys', 128 * KB, 'bytes', ITS_LOCK),
  unitsBrought: {
    ...cut(
      'the units of each that are known by name',
      50,
      'entries',
      'if there are more, up to 10,000, the lock keeps 40 bits of each name',
    ),
    more: 'joined',
  },
} as const satisfies Record<string, Limit>;

const ONE_REQUEST = 'the store takes a change in a few requests';

/** Limits of configuration: its sources, values and changes, and the store of a proxy on a host. */
export const CONFIG_LIMITS = {
  path: refuseAbove('the path of a value or a source', 256, 'bytes', 'it is a key in the store'),
  file: refuseAbove('a source file', 1024 * KB, 'bytes', 'a value from it may not be larger'),
  files: refuseAbove('the number of files of a tree', 100_000, 'entries', 'all of them are looked at'),
  importDepth: refuseAbove(
    'the number of imports within one another',
    200,
    'entries',
    'each import is resolved within the previous one',
  ),
  value: refuseAbove('a value', 1024 * KB, 'bytes', EACH_HOST),
  change: refuseAbove('the total size of the values of a change', 4096 * KB, 'bytes', ONE_REQUEST),
  values: refuseAbove('the number of values of a change', 2000, 'entries', ONE_REQUEST),
  message: refuseAbove('the message of a change', 4 * KB, 'bytes', 'each list of changes shows it'),
  request: refuseAbove('a proposal over HTTP', 8192 * KB, 'bytes', 'texts in JSON take up to twice their size'),
  landing: refuseAbove('the number of changes that wait to land', 500, 'entries', 'the landing strip carries them'),
  landingTogether: {
    ...cut('the changes that land together', 100, 'entries', 'the others land right after them'),
    more: 'waits',
  },
  changesFound: cut('the changes that a finder looks at', 2000, 'entries', 'each sweep reads them for all pipelines'),
  changesAnswered: {
    ...cut('the changes in one answer of a finder', 4000, 'entries', 'an answer has at most 8 MiB'),
    more: 'waits',
  },
  landed: cut('the landings that a strip shows', 20, 'entries', 'the repository has all of them'),
  ownedPaths: refuseAbove('the number of paths of a pipeline', 20, 'entries', 'every look asks for each of them'),
  services: refuseAbove('the number of services of configuration', 1000, 'entries', 'one file remembers all of them'),
  formerUnits: cut(
    'the units of a service that all hosts have left',
    100,
    'entries',
    'a deploy that began earlier may name them',
  ),
  leftHosts: cut('the hosts of a unit that have left', 1000, 'entries', 'one file remembers them until they are back'),
  hosts: refuseAbove('the number of hosts of an override', 2000, 'entries', 'a share of all hosts can cover more'),
  lockedHosts: refuseAbove(
    'the number of hosts of one config lock-store',
    10_000,
    'entries',
    'etcd hashes a password for each, one by one',
  ),
  ownHosts: refuseAbove(
    'the number of hosts of a repository with roles of their own',
    1000,
    'entries',
    'a look at a path asks for each of them',
  ),
  proxyPaths: refuseAbove(
    'the number of paths of a proxy',
    5000,
    'entries',
    'the proxy keeps all of them in memory and on its disk',
  ),
  proxyWatchers: refuseAbove('the number of watchers of a proxy', 1000, 'entries', 'each keeps a connection open'),
  watchedPaths: refuseAbove('the number of paths of a watcher', 200, 'entries', 'one URL names all of them'),
  refusals: refuseAbove(
    'the number of applications that refuse a value on a host',
    16,
    'entries',
    'its acknowledgement names them',
  ),
  refusal: shortenAbove(
    'the reason why an application refuses a value',
    1000,
    'bytes',
    'the host writes it to the store',
  ),
} as const satisfies Record<string, Limit>;

const EACH_RUN = 'each daily run carries all of them';

/** Limits of packages, such as models: their description in the configuration, and their exchange between hosts. */
export const VESSEL_LIMITS = {
  megabytes: refuseAbove(
    'the number of megabytes of a package',
    16 * 1024,
    'entries',
    'that is 4096 pieces of the largest size',
  ),
  pieces: refuseAbove('the number of pieces of a package', 4096, 'entries', 'one value contains all of their digests'),
  piece: refuseAbove('a piece of a package', 4096 * KB, 'bytes', 'hosts keep a few of them in memory'),
  uploads: refuseAbove('the pieces that a host serves to others at once', 16, 'entries', 'a refused host asks another'),
  questions: refuseAbove(
    'the other requests that a host answers at once',
    64,
    'entries',
    'a refused host asks another',
  ),
  connections: refuseAbove(
    'the connections to a host from other hosts',
    256,
    'entries',
    'any process in the network may open some',
  ),
  streams: refuseAbove(
    'the number of applications of a host that load packages at once',
    16,
    'entries',
    'each keeps a connection open',
  ),
  apps: refuseAbove(
    'the number of applications of a host that use one package',
    16,
    'entries',
    'its acknowledgement names them',
  ),
  peers: refuseAbove(
    'the hosts that another host asks for a package',
    30,
    'entries',
    'it remembers the pieces of each of them',
  ),
} as const satisfies Record<string, Limit>;

/** Limits of tickets for stale pipelines: each daily run carries the open ones. */
export const TICKET_LIMITS = {
  open: { ...cut('the tickets that are open at the same time', 1000, 'entries', EACH_RUN), more: 'waits' },
  ticket: refuseAbove('the id of a ticket in its service', 100, 'bytes', EACH_RUN),
  key: refuseAbove('the key of a ticket', 200, 'bytes', 'it is a header of each call'),
  text: shortenAbove('the text of a ticket', 4 * KB, 'bytes', 'people read it'),
  assignees: refuseAbove(
    'the number of assignees of a ticket',
    50,
    'entries',
    'a pipeline has no more owners than that',
  ),
  managers: refuseAbove('the number of managers of groups', 10_000, 'entries', 'all of them are read with the file'),
  said: cut('the reasons that a run shows', 20, 'entries', 'more would be too many to read'),
} as const satisfies Record<string, Limit>;

/** Limits of reported bugs: one workflow carries all of them, and every deploy is checked against those in force. */
export const BUG_LIMITS = {
  target: refuseAbove('the target of a bug', 256, 'bytes', 'it may be as long as that of an artifact'),
  revision: refuseAbove('a revision of a bug', 128, 'bytes', 'it may be as long as that of an artifact'),
  advisory: refuseAbove(
    'the total size of the affected packages of an advisory',
    6 * KB,
    'bytes',
    'a workflow carries all bugs',
  ),
  unheld: cut('the packages that an advisory lists as not searched for', 5, 'entries', 'a workflow carries all bugs'),
  sbom: refuseAbove('an SBOM', 32 * 1024 * KB, 'bytes', 'a worker reads all of it to search for a bug'),
  inForce: refuseAbove('the number of bugs in force', 100, 'entries', 'each deploy asks about each of them'),
  kept: cut('the reports that were closed as no bug', 50, 'entries', 'a workflow carries all bugs'),
  shown: cut('the releases of each kind that a bug shows', 10, 'entries', 'a workflow carries all bugs'),
  shownTogether: cut('the total size of the releases that a bug shows', 2560, 'bytes', 'a workflow carries all bugs'),
  owners: cut('the owners of a release that a bug shows', 5, 'entries', 'a workflow carries all bugs'),
  path: cut('the chain of dependencies that a bug shows', 400, 'bytes', 'a workflow carries all bugs'),
} as const satisfies Record<string, Limit>;

/** Limits of the search for the releases that contain a revision. */
export const WHERE_LIMITS = {
  words: cut(
    'the words under which a release is listed by its revisions, digests and versions',
    1900,
    'bytes',
    'Temporal accepts 2 kB per search attribute; revisions and digests always fit',
  ),
  candidates: cut('the revisions that an abbreviation may mean', 20, 'entries', 'people read them'),
  asked: cut(
    'the releases whose workflows a search asks for their progress',
    20,
    'entries',
    'the answer takes a second',
  ),
  older: cut(
    'the releases that are not listed by revisions and are read instead',
    1000,
    'entries',
    'Temporal lists so many in one answer',
  ),
  newer: cut(
    'the newer revisions in which a search looks for a revision',
    50,
    'entries',
    'one query names all of them',
  ),
} as const satisfies Record<string, Limit>;

/** Limits of the archive of ended releases and deploys. */
export const ARCHIVE_LIMITS = {
  days: refuseAbove(
    'the number of days for which an archive keeps rows',
    3650,
    'entries',
    'statistics over the whole time read every row',
  ),
  categories: {
    ...cut('the categories that statistics name', 100, 'entries', 'people read their tables'),
    more: 'joined',
  },
} as const satisfies Record<string, Limit>;

/** Limits of the receivers of notifications. */
export const NOTICE_LIMITS = {
  receivers: refuseAbove('the number of receivers in the settings', 1_000, 'entries', 'workers read all of them'),
  paged: refuseAbove('the people and groups that a receiver pages', 100, 'entries', TO_READ),
  recipients: refuseAbove('the recipients of a mail', 50, 'entries', 'a list of the mail server reaches more'),
  address: refuseAbove('the address or the login of a mailbox', 254, 'bytes', 'SMTP carries no longer one'),
  slackUsers: refuseAbove('the users of Slack with a principal', 10_000, 'entries', 'the settings hold all of them'),
  slackDomains: refuseAbove('the domains of the addresses of users of Slack', 20, 'entries', TO_READ),
  slackPeople: cut(
    'the users of Slack whose answers a server keeps',
    10_000,
    'entries',
    'a server keeps them in memory',
  ),
} as const satisfies Record<string, Limit>;

/** Limits of the web pages. */
export const PAGE_LIMITS = {
  rows: cut('the number of pipelines on a page', 40, 'entries', 'a page stays under 100 kB'),
  reads: cut('the number of answers that a server keeps for pages', 500, 'entries', 'a server keeps them in memory'),
  calendar: cut('the number of pipelines on a page of the calendar', 10, 'entries', 'each is asked for its file'),
  moments: cut('the number of entries in the list of the calendar', 100, 'entries', 'a page stays under 100 kB'),
  categories: cut('the number of categories on the page of statistics', 6, 'entries', 'a page stays under 100 kB'),
  sources: cut('the number of sources on a page of a repository', 200, 'entries', 'a page stays under 100 kB'),
  value: cut('the size of a value on a page', 24 * KB, 'bytes', 'a page stays under 100 kB'),
  filter: refuseAbove('a filter of a page', 200, 'bytes', 'Temporal searches for it'),
  streams: refuseAbove('the number of pages that a server keeps up to date', 2_000, 'entries', 'each has a connection'),
  viewerStreams: refuseAbove(
    'the number of pages that it keeps up to date for one viewer',
    30,
    'entries',
    'others watch too',
  ),
} as const satisfies Record<string, Limit>;

const ONE_PROCESS = 'one process of the push type looks at all of them every few seconds';
const ONE_SSHD = 'sshd refuses more with its usual settings';

/** Limits of the push type `hosts`: its inventory, the connections to its hosts, and its packages. */
export const HOSTS_LIMITS = {
  inventory: refuseAbove('an inventory', 4 * 1024 * KB, 'bytes', 'a program may print it by mistake without end'),
  hosts: refuseAbove('the number of hosts of a group', 2_000, 'entries', ONE_PROCESS),
  name: refuseAbove('the name of a host or group', 128, 'bytes', 'labels of metrics and file names contain it'),
  address: refuseAbove('the address of a host', 255, 'bytes', 'a name in DNS is not longer'),
  arguments: refuseAbove('the number of arguments of a hook or an inventory program', 64, 'entries', TO_READ),
  balancers: refuseAbove('the number of load balancers', 16, 'entries', 'each change is made on all of them'),
  shared: refuseAbove('the number of shared paths', 64, 'entries', 'each release gets a link for each'),
  keep: refuseAbove('the number of releases that a host keeps', 50, 'entries', 'each is a whole copy on its disk'),
  atOnce: refuseAbove(
    'the number of hosts that change together',
    200,
    'entries',
    'each has a connection and an upload',
  ),
  sessions: refuseAbove('the number of channels to a host', 10, 'entries', ONE_SSHD),
  connectsAtOnce: refuseAbove('the number of connections that are opened together', 64, 'entries', ONE_SSHD),
  packageBytes: refuseAbove('a package', 2 * 1024 * 1024 * KB, 'bytes', 'hosts need room for it twice'),
  packageEntries: refuseAbove('the number of files of a package', 200_000, 'entries', 'each of them is looked at'),
  packagesKept: cut('the number of fetched packages that are kept', 10, 'entries', 'each may have 2 GB'),
  packageVersions: cut(
    'the number of versions whose digests are remembered',
    500,
    'entries',
    'a revert goes back to a recent one',
  ),
} as const satisfies Record<string, Limit>;

const ONE_COMMIT = 'one commit of the push type changes it';

/** Limits of the push type `git-commit`. */
export const GIT_COMMIT_LIMITS = {
  settings: refuseAbove('the settings of git-commit', 1024 * KB, 'bytes', TO_READ),
  repositories: refuseAbove('the number of repositories', 100, 'entries', 'each has a copy on the disk'),
  environments: refuseAbove('the number of environments', 500, 'entries', ONE_COMMIT),
  clusters: refuseAbove('the number of clusters of an environment', 500, 'entries', ONE_COMMIT),
  name: refuseAbove('a name of a service, an environment or a cluster', 63, 'bytes', 'paths and URLs contain it'),
  labels: refuseAbove('the number of labels of an environment', 50, 'entries', TO_READ),
  paths: refuseAbove('the number of patterns under paths of a repository', 64, 'entries', TO_READ),
  path: refuseAbove('the path of a file', 512, 'bytes', 'the message of a commit names it'),
  keyPath: refuseAbove('the number of keys that lead to a field', 32, 'entries', TO_READ),
  value: refuseAbove('the value of a field', 512, 'bytes', 'it is on one line of the file'),
  file: refuseAbove('a file in which a field is changed', 512 * KB, 'bytes', 'it is read at each look'),
  copy: refuseAbove('the copy of a repository', 2 * 1024 * 1024 * KB, 'bytes', 'a server may send without end'),
  history: cut('the commits that a new copy has', 500, 'entries', 'a repeated update is found among them'),
  answer: refuseAbove(
    'the answer of Argo CD, Flux, a program or a URL',
    8 * 1024 * KB,
    'bytes',
    'it is kept in memory',
  ),
  arguments: refuseAbove('the number of arguments of a program', 64, 'entries', TO_READ),
  pushes: refuseAbove(
    'the number of pushes of one commit in a round',
    5,
    'entries',
    'others push too; the next round continues',
  ),
  values: cut(
    'the versions of a unit whose values are remembered',
    100,
    'entries',
    'a revert goes back to a recent one',
  ),
} as const satisfies Record<string, Limit>;

const OF_A_MILLION = 'a fleet has a million of them';
const ANY_HOST = 'any of a million hosts may send one';
const A_SCAN = 'each call of a deploy passes over the hosts of each unit';

/** Limits of the push type `slowroll`: its settings, and the hosts that poll it. */
export const SLOWROLL_LIMITS = {
  settings: refuseAbove('a file of settings', 1024 * KB, 'bytes', TO_READ),
  hosts: refuseAbove('the number of hosts of a server', 2_000_000, 'entries', A_SCAN),
  name: refuseAbove('the name of a host or region', 128, 'bytes', OF_A_MILLION),
  regions: refuseAbove('the number of regions', 100, 'entries', A_SCAN),
  packages: refuseAbove('the number of packages', 50, 'entries', 'hosts send what they run of each in a header'),
  labels: refuseAbove('the number of labels of a host', 32, 'entries', OF_A_MILLION),
  labelBytes: refuseAbove('the labels of a host', 2 * KB, 'bytes', OF_A_MILLION),
  labelSets: refuseAbove('the number of different sets of labels', 65_535, 'entries', 'a host refers to one of them'),
  state: refuseAbove('the state in a poll', 4 * KB, 'bytes', 'it is part of an address'),
  report: refuseAbove('a report', 512 * KB, 'bytes', ANY_HOST),
  requests: refuseAbove('the number of requests of hosts under way', 2_000, 'entries', ANY_HOST),
  downloads: refuseAbove('the number of downloads under way', 500, 'entries', 'each has a file and a connection'),
  hostDownloads: refuseAbove('the number of downloads of a host under way', 4, 'entries', ANY_HOST),
  pollsASecond: refuseAbove('the number of requests of a host in a second', 5, 'entries', ANY_HOST),
  listed: refuseAbove('the number of hosts in one answer', 10_000, 'entries', 'the answer is made in memory'),
  decisions: cut('the number of decisions of a unit that are kept', 500, 'entries', 'one file has all of them'),
  strangeVersions: cut('the number of versions that were reported and never decided', 10_000, 'entries', ANY_HOST),
  troubleTexts: cut('the number of hosts in trouble whose reason is kept', 10_000, 'entries', ANY_HOST),
  outdatedHosts: cut(
    'the number of outdated lines in the file of hosts',
    100_000,
    'entries',
    'a restart reads all of it',
  ),
  packageBytes: refuseAbove('a package', 2 * 1024 * 1024 * KB, 'bytes', 'hosts need room for it twice'),
} as const satisfies Record<string, Limit>;

/** Limits of the push type `kubernetes`: the file of its clusters, and the config of pipelines. */
export const KUBERNETES_LIMITS = {
  file: refuseAbove('the file of the clusters', 1024 * KB, 'bytes', 'people edit it'),
  clusters: refuseAbove('the number of clusters', 500, 'entries', ONE_PROCESS),
  workloads: refuseAbove('the number of workloads of a config', 100, 'entries', TO_READ),
  template: refuseAbove('the fields of a pod template', 32 * KB, 'bytes', 'an annotation of the workload has them'),
  savedTemplate: refuseAbove(
    'the pod template of a workload whose pods are replaced',
    64 * KB,
    'bytes',
    'annotations keep it while it is another',
  ),
  name: refuseAbove(
    'the name of a cluster, a namespace or a workload',
    253,
    'bytes',
    'Kubernetes permits no longer one',
  ),
} as const satisfies Record<string, Limit>;
