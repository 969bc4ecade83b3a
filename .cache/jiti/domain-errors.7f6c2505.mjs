"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.ERRORS = exports.ConveyorError = void 0;exports.conveyorError = conveyorError;exports.unfitError = void 0;var _isolation = await jitiImport("./isolation");
var _redactUrl = await jitiImport("./redactUrl");
var _builds = await jitiImport("./builds");
var _temporalAway = await jitiImport("./temporalAway");
var _text = await jitiImport("./text");


/**
 * Every error that a person or a script can meet, in one table: the message, a hint, whether another try may help, and
 * the exit code of the command line. `docs/errors.md` lists the same codes; a test keeps them equal.
 */








/** The address of the store, or the name of its repository. */
const formatStorePlace = (store) => store.includes('://') ? `at ${(0, _redactUrl.redactUrl)(store)}` : `of ${store}`;

/** The receiver of a notification: its name in the settings, or its address as the pipeline has it. */





const nameReceiver = ({ url = '', to }) => to ?? (0, _redactUrl.redactUrl)(url);

/** The parent of an id: the release of a deploy, or the pipeline of a release. */
const getParentId = (id) => id.split('/').slice(0, -1).join('/') || id;

const entry = (value) => value;

const ERRORS = exports.ERRORS = {
  usage: entry({
    message: ({ text }) => text,
    hint: ({ hint }) => hint,
    retryable: false,
    exit: 2
  }),
  'invalid-id': entry({
    message: ({ text, expected }) => `${text} is not ${expected}`,
    hint: () => 'ids look like kvstore, kvstore/12 and kvstore/12/deploy',
    retryable: false,
    exit: 2
  }),
  'missing-reason': entry({
    message: ({ verb }) => `${verb} needs a reason`,
    hint: () => 'say why with --reason "…"; it is recorded',
    retryable: false,
    exit: 2
  }),
  'unknown-pipeline': entry({
    message: ({ pipeline }) => `there is no pipeline ${pipeline}`,
    hint: () => 'conveyor list pipelines shows them; conveyor apply FILE creates one',
    retryable: false,
    exit: 4
  }),
  'unknown-bug': entry({
    message: ({ id }) => `there is no ${id}`,
    hint: () => 'conveyor bugs list shows the known bugs',
    retryable: false,
    exit: 4
  }),
  'advisory-invalid': entry({
    message: ({ file, why }) => `${file}: ${why}`,
    hint: () => 'pass an advisory in OSV format, such as those on https://osv.dev',
    retryable: false,
    exit: 2
  }),
  'sbom-unreadable': entry({
    message: ({ sbom, why }) => `the SBOM ${sbom} cannot be read: ${why}`,
    hint: () =>
    'write CycloneDX or SPDX 2 as JSON to the SBOM store, at the location given by metadata.sbom of the artifact',
    retryable: false,
    exit: 1
  }),
  'bug-refused': entry({
    message: ({ why }) => why,
    hint: () => 'conveyor bugs list shows which bugs are in force; conveyor bugs report --help has examples',
    retryable: false,
    exit: 2
  }),
  'unknown-release': entry({
    message: ({ id }) => `there is no release ${id}`,
    hint: ({ id }) => `conveyor history ${id.split('/')[0] ?? id} shows the releases of the pipeline`,
    retryable: false,
    exit: 4
  }),
  'unknown-deploy': entry({
    message: ({ id }) => `there is no deploy ${id}`,
    hint: ({ id }) => `conveyor status ${id.split('/').slice(0, 2).join('/')} lists the actions of the release`,
    retryable: false,
    exit: 4
  }),
  'ambiguous-deploy': entry({
    message: ({ id, deploys }) => `${id} runs ${deploys.length} deploys: ${deploys.join(', ')}`,
    hint: () => 'name the one you mean',
    retryable: false,
    exit: 2
  }),
  'not-permitted': entry({
    message: ({ actor, pipeline, why }) => why ?? `${actor} is not an owner of ${pipeline}`,
    hint: ({ pipeline, why, can }) =>
    can !== undefined ?
    `conveyor can ${can} explains the decision` :
    why === undefined ?
    `ask an owner (conveyor status ${pipeline} lists them) to do it or to add you` :
    'ask one of them to do it',
    retryable: false,
    exit: 4
  }),
  unsigned: entry({
    message: ({ place, pipeline, artifact, why }) => `${place} protects ${pipeline}: ${artifact} is not signed: ${why}`,
    hint: ({ name }) =>
    `sign that version, check the attestation with conveyor artifact verify FILE, and release with --attestation ${name}=FILE; without a signature only an admin may push it, with --emergency`,
    retryable: false,
    exit: 4
  }),
  'invalid-state': entry({
    message: ({ verb, id, why }) => `cannot ${verb} ${id}: ${why}`,
    hint: ({ verb, id }) => `conveyor status ${verb === 'show' ? getParentId(id) : id} shows what it is doing`,
    retryable: false,
    exit: 1
  }),
  'key-reused': entry({
    message: ({ key, was, now }) => `the key ${key} already started ${was}, but now comes with ${now}`,
    hint: () =>
    'nothing was started; use a new key for each request, and repeat a key only to send the same request again',
    retryable: false,
    exit: 1
  }),
  'not-rerunnable': entry({
    message: ({ id, why }) => `${id} cannot be run again: ${why}`,
    hint: ({ instead }) => instead,
    retryable: false,
    exit: 1
  }),
  'known-bad': entry({
    message: ({ artifact, since }) => `${artifact} is known to be bad: ${since}`,
    hint: ({ artifact, pipeline }) =>
    `if it is good after all: conveyor allow-artifact ${pipeline} ${artifact} --reason "…"`,
    retryable: false,
    exit: 1
  }),
  'digest-changed': entry({
    message: ({ artifact, pipeline, known, from }) =>
    `${artifact}: ${from} of ${pipeline} has this version with another digest, ${known}`,
    hint: () => 'nothing was started; publish the new bytes as a new version, and release that',
    retryable: false,
    exit: 1
  }),
  'missing-artifact': entry({
    message: ({ pipeline, names }) => `a release of ${pipeline} needs a version of ${names.join(', ')}`,
    hint: ({ names }) => `give it with ${names.map((name) => `--artifact ${name}=VERSION`).join(' ')}`,
    retryable: false,
    exit: 2
  }),
  'unknown-artifact': entry({
    message: ({ pipeline, name }) => `${pipeline} takes no artifact ${name}`,
    hint: ({ known }) => `it takes ${known.join(', ')}`,
    retryable: false,
    exit: 2
  }),
  'unknown-extension': entry({
    message: ({ kind, name }) =>
    name === null ? `no ${kind} is configured` : `no ${kind} called ${name} is configured`,
    hint: ({ name, known }) =>
    `conveyor.config.yaml lists ${known.length > 0 ? known.join(', ') : 'none of that kind'}; add ${name ?? 'one'} there`,
    retryable: false,
    exit: 1
  }),
  'extension-lacks-method': entry({
    message: ({ service, method }) => `${service} does not implement the optional method ${method}`,
    hint: ({ service, method }) => `implement ${method} in ${service}, or remove the field that needs it`,
    retryable: false,
    exit: 1
  }),
  'extension-rejected': entry({
    message: ({ service, method, status, detail }) => `${service} rejected ${method} (${status}): ${detail}`,
    hint: ({ service }) => `the request was understood and refused; fix the pipeline's configuration for ${service}`,
    retryable: false,
    exit: 1
  }),
  'extension-protocol': entry({
    message: ({ service, method, field, detail }) =>
    `${service} answered ${method} in violation of its protocol: ${field}: ${detail}`,
    hint: ({ service }) => `${service} must answer as its openapi.json says; report this to its operators`,
    retryable: false,
    exit: 1
  }),
  'extension-unavailable': entry({
    message: ({ service, method, detail }) => `${service} did not answer ${method}: ${detail}`,
    hint: () => 'deploys retry it automatically; nothing is lost meanwhile',
    retryable: true,
    exit: 1
  }),
  'scripts-off': entry({
    message: ({ command }) => `the script ${command} was not run: this worker runs no scripts`,
    hint: () =>
    'if you trust everyone who may apply pipelines, set scripts: { enabled: true } in the conveyor.config.yaml of the workers (docs/reference/scripts.md)',
    retryable: false,
    exit: 1
  }),
  'script-not-runnable': entry({
    message: ({ command, detail }) => `the script ${command} cannot be run: ${detail}`,
    hint: () =>
    'scripts run on the worker, with the scripts settings of its conveyor.config.yaml; fix the command or the settings',
    retryable: false,
    exit: 1
  }),
  'notification-refused': entry({
    message: ({ detail, ...to }) => `a notification to ${nameReceiver(to)} cannot be sent: ${detail}`,
    hint: () => 'fix notify in the pipeline file, or notifications in the conveyor.config.yaml of the worker',
    retryable: false,
    exit: 1
  }),
  'notification-undelivered': entry({
    message: ({ detail, ...to }) => `a notification to ${nameReceiver(to)} was not delivered: ${detail}`,
    hint: () => 'it is retried automatically for an hour; releases do not wait for it',
    retryable: true,
    exit: 1
  }),
  'plan-impossible': entry({
    message: ({ why }) => `the deploy cannot be planned: ${why}`,
    hint: () => 'fix that in the pipeline file, or plan for another fleet with --units FILE',
    retryable: false,
    exit: 2
  }),
  'temporal-unreachable': entry(




    {
      message: ({ address, detail, state }) => `${(0, _temporalAway.describeTemporalState)(address, state)} (${detail})`,
      hint: ({ state, settings = [] }) => {
        switch (state) {
          case 'answers':
            return 'conveyor doctor checks whether it can store anything: its disk may be full, or its database read-only or unavailable; nothing is lost';
          case 'mute':
            return 'it is frozen or overloaded, or a certificate is refused: conveyor doctor says what to do; everything continues once it answers, and nothing is lost';
          case 'plain':
          case 'tls':
            return (0, _temporalAway.tlsRemedy)(state, settings);
          default:
            return 'start one with ./temporal-dev.sh or conveyor dev, or set TEMPORAL_ADDRESS; conveyor doctor shows what it finds there';
        }
      },
      retryable: true,
      exit: 1
    }),
  'server-unreachable': entry({
    message: ({ url, detail }) => `no Conveyor server answers at ${url} (${detail})`,
    hint: () => 'check the address and the network; conveyor doctor shows where the address comes from',
    retryable: true,
    exit: 1
  }),
  'simulator-unreachable': entry({
    message: ({ url, detail }) => `no simulator answers at ${(0, _redactUrl.redactUrl)(url)} (${detail})`,
    hint: () => 'start one with conveyor simulator or conveyor dev, or set CONVEYOR_SIMULATOR_URL',
    retryable: true,
    exit: 1
  }),
  'no-worker': entry(






    {
      message: ({ id, unpolled, queue, build, lastPollAt = null }) =>
      unpolled === undefined ?
      `${id} exists, but ${(0, _builds.noWorkerWords)(build)} ${queue === undefined ? 'answers for it' : `polls its task queue ${queue}`}${(0, _text.lastPollWords)(lastPollAt)}` :
      `${(0, _builds.noWorkerWords)(build)} polls the task queue ${unpolled}, where ${id} would begin`,
      hint: ({ kept, unpolled, queue, build }) => {
        const start = `start one with ${(0, _builds.workerCommand)(build)}`;
        if (kept) return `${start}; the command is kept until a worker takes it, so do not send it again`;
        if (unpolled === undefined && (queue === undefined || build === undefined))
        return `${start}; if one is running, it is busy or frozen, or was just lost: conveyor doctor says which, and nothing is lost meanwhile`;
        if (build === undefined)
        return 'start one with conveyor worker, or name the queue of your workers with --task-queue; nothing was started';
        const current = build === null ? ' (set-current-version, to give the work to workers of a build)' : '';
        return `${start}; conveyor doctor lists other remedies${current}, and nothing is lost meanwhile`;
      },
      retryable: true,
      exit: 1
    }),
  'port-in-use': entry({
    message: ({ port, process }) => `port ${port} is taken, so ${process} cannot listen on it`,
    hint: () =>
    'stop the program that listens there, choose another port with --port, or use conveyor dev --ports auto',
    retryable: false,
    exit: 1
  }),
  'files-in-use': entry({
    message: ({ what, by }) => `${what} is in use by ${by}`,
    hint: () => 'stop that process first, or give this one its own place with --state or --cache',
    retryable: false,
    exit: 1
  }),
  'file-unreadable': entry({
    message: ({ file, detail }) => `cannot read ${file}: ${detail}`,
    hint: () => 'check the path; conveyor init writes a first pipeline.yaml',
    retryable: false,
    exit: 2
  }),
  'invalid-file': entry({
    message: ({ file, problems }) => `${file} has ${problems === 1 ? 'a problem' : `${problems} problems`}`,
    hint: ({ file }) => `conveyor lint ${file} lists them with their positions`,
    retryable: false,
    exit: 2
  }),
  'config-rejected': entry({
    message: ({ pipeline, refused }) => `${pipeline} was not applied: ${refused.join('; ')}`,
    hint: () =>
    'correct with.config of the action in the pipeline file, or add to the fleet the job or host that the field names; then apply the file again',
    retryable: false,
    exit: 2
  }),
  'offers-cycle': entry({
    message: ({ pipeline, path }) => `${pipeline} was not applied: these actions would wait for each other: ${path}`,
    hint: () => 'make the offer after an earlier deploy of its pipeline, or wish for it in a later one',
    retryable: false,
    exit: 2
  }),
  'excerpt-invalid': entry({
    message: ({ file, detail }) => `${file} is not an excerpt of offers: ${detail}`,
    hint: ({ file }) => `the pipeline's owners write it again with conveyor offers export PIPELINE -o ${file}`,
    retryable: false,
    exit: 2
  }),
  'config-invalid': entry({
    message: ({ file, detail }) => `${file} is not a valid configuration: ${detail}`,
    hint: () => 'docs/errors.md#config-invalid shows a complete one',
    retryable: false,
    exit: 2
  }),
  'gate-invalid': entry({
    message: ({ name, problems }) => `the project ${name} is refused: ${problems.join('; ')}`,
    hint: () => 'docs/guides/gatekeeper.md#a-project lists the restraints and what they take',
    retryable: false,
    exit: 2
  }),
  'sitevar-refused': entry({
    message: ({ name, problems }) => `${name} is refused: ${problems.join('; ')}`,
    hint: () => 'nothing was proposed; correct the value, or have the owner of the sitevar change its checker',
    retryable: false,
    exit: 2
  }),
  'sitevar-deviates': entry({
    message: ({ name, warnings }) => `${name} deviates from its past values: ${warnings.join('; ')}`,
    hint: () => 'nothing was proposed; check the value, and propose it with anyway: true if it is intended',
    retryable: false,
    exit: 2
  }),
  'credentials-unusable': entry({
    message: ({ file, why }) => `${file} cannot be used: ${why}`,
    hint: ({ file }) =>
    `if you wrote it, run chmod 600 ${file}; otherwise run conveyor logout, then conveyor login URL`,
    retryable: false,
    exit: 2
  }),
  unauthorized: entry({
    message: ({ why }) => `this request has no valid identity: ${why}`,
    hint: ({ expired }) =>
    expired ?
    'conveyor login URL signs you in again; replace a token in CONVEYOR_TOKEN with a new one from its issuer' :
    'send Authorization: Bearer <token>, with one of the tokens listed in conveyor.config.yaml; commands send the token from conveyor login URL',
    retryable: false,
    exit: 4
  }),
  'sign-in-failed': entry({
    message: ({ issuer, detail }) => `${issuer} did not sign you in: ${detail}`,
    hint: () => 'run conveyor login SERVER again; add --device if this machine has no usable browser',
    retryable: false,
    exit: 4
  }),
  'identity-unreachable': entry({
    message: ({ issuer, detail }) =>
    `the identity provider ${issuer} is unavailable, so this token cannot be verified (${detail})`,
    hint: () => 'try again; meanwhile use a token listed in conveyor.config.yaml, which needs no provider',
    retryable: true,
    exit: 1
  }),
  'sign-in-refused': entry({
    message: ({ why }) => `no one was signed in: ${why}`,
    hint: () => 'start again at /sign-in of the server',
    retryable: false,
    exit: 4
  }),
  'form-refused': entry({
    message: ({ why }) => `the form was refused, and nothing was done: ${why}`,
    hint: () => 'open the page again, and send the form from there',
    retryable: false,
    exit: 4
  }),
  'audit-unwritable': entry({
    message: ({ detail }) => `this was not done, because the audit cannot record it (${detail})`,
    hint: () => 'repair the audit of the server; revert, cancel, pause, freeze and hold still work',
    retryable: true,
    exit: 1
  }),
  'bad-signature': entry({
    message: ({ webhook, why }) => `invalid signature on the delivery from ${webhook}: ${why}`,
    hint: ({ webhook }) => `sign the exact bytes of the body, with the secret of webhooks.${webhook} on the server`,
    retryable: false,
    exit: 4
  }),
  'not-in-scope': entry({
    message: ({ source, what }) => `the webhook source ${source} may not ${what}`,
    hint: ({ source, instead }) =>
    `nothing was done; ${instead ?? `to allow it, extend the scope of ${source} under webhooks of conveyor.config.yaml`}`,
    retryable: false,
    exit: 4
  }),
  'wrong-key': entry({
    message: ({ run }) => `this is not the key of the run ${run}`,
    hint: () =>
    'send callback.key from the startRun of this run as the bearer token; the server and the worker must have the same secret',
    retryable: false,
    exit: 4
  }),
  'webhook-closed': entry({
    message: ({ webhook }) => `this server has no secret to verify deliveries from ${webhook}`,
    hint: ({ webhook, variables }) =>
    variables.length > 0 ?
    `set ${variables.join(' or ')} for the server, restart it, and deliver again` :
    `add webhooks.${webhook} to conveyor.config.yaml, and deliver again`,
    retryable: true,
    exit: 1
  }),
  'invalid-request': entry({
    message: ({ detail }) => `the request cannot be read: ${detail}`,
    hint: () => '/openapi.json describes what each request takes',
    retryable: false,
    exit: 2
  }),
  'too-slow': entry({
    message: ({ seconds }) => `the body did not arrive within ${seconds} s`,
    hint: () => 'nothing was done; send the whole body again, without pauses',
    retryable: true,
    exit: 1
  }),
  'too-large': entry({
    message: ({ limit }) => `the body is larger than ${limit}`,
    hint: () => 'send the identities of the artifacts, not their contents',
    retryable: false,
    exit: 2
  }),
  'over-limit': entry({
    message: ({ what, size, limit }) => `${what} is ${size}, more than ${limit}`,
    hint: () =>
    'store large data elsewhere and refer to it by a uri or a link; docs/reference/limits.md lists every limit and its reason',
    retryable: false,
    exit: 2
  }),
  'invalid-text': entry({
    message: ({ what, why }) => `${what} ${why}`,
    hint: () =>
    'nothing was done; names, versions, keys and reasons must be one line of plain text; metadata may have several lines; sequence must be a number, and committedAt a time',
    retryable: false,
    exit: 2
  }),
  'queue-full': entry({
    message: ({ pipeline, why }) => `${pipeline} takes no more releases for now: ${why}`,
    hint: ({ pipeline }) =>
    `nothing was done; try again when some have ended (conveyor status ${pipeline}), or cancel some`,
    retryable: true,
    exit: 1
  }),
  'emergency-full': entry({
    message: ({ pipeline, why }) => `${pipeline} takes no emergency: ${why}`,
    hint: ({ pipeline }) =>
    `nothing was done; conveyor status ${pipeline} lists the emergencies under way: cancel one, or push again once one has ended`,
    retryable: false,
    exit: 1
  }),
  'not-found': entry({
    message: ({ what }) => `there is no ${what}`,
    hint: () => '/openapi.json lists all routes; see also /livez, /readyz and /metrics',
    retryable: false,
    exit: 4
  }),
  overloaded: entry({
    message: ({ waiting }) => `the server is overloaded: ${waiting} requests are already waiting`,
    hint: () => 'nothing was done; send it again after the time in Retry-After',
    retryable: true,
    exit: 1
  }),
  'store-unavailable': entry({
    message: ({ store, detail }) => `the store of configuration ${formatStorePlace(store)} does not answer: ${detail}`,
    hint: () => 'clients try again automatically; hosts keep the values that they have',
    retryable: true,
    exit: 1
  }),
  'store-full': entry({
    message: ({ store }) => `the store of configuration at ${(0, _redactUrl.redactUrl)(store)} is full and takes no changes`,
    hint: () => 'etcdctl compact, etcdctl defrag and etcdctl alarm disarm make room; hosts can still read',
    retryable: true,
    exit: 1
  }),
  'store-refused': entry({
    message: ({ store, detail }) => `the store of configuration at ${(0, _redactUrl.redactUrl)(store)} refused a request: ${detail}`,
    hint: () =>
    'check its address, its version (etcd 3.4 or newer), and the user, password and certificates used to connect',
    retryable: false,
    exit: 1
  }),
  'store-forged': entry({
    message: ({ repository, what, why }) => `${what} in the store of ${repository} cannot be trusted: ${why}`,
    hint: () =>
    'the configuration service restores the value from git within a minute; docs/guides/secure.md says how to lock the store',
    retryable: true,
    exit: 1
  }),
  'store-out-of-step': entry({
    message: ({ repository, head, given }) =>
    `the store holds ${repository} up to ${head}, but ${given} is not the next commit`,
    hint: () => 'commits are applied in order; if the history was rewritten, use another repository name',
    retryable: false,
    exit: 1
  }),
  'process-failed': entry({
    message: ({ process, how, tail }) => `the ${process} is not running: ${how}. ${tail}`,
    hint: ({ logFile, command }) =>
    `${logFile} has its full output; conveyor doctor checks this machine; then start it again: ${command}`,
    retryable: false,
    exit: 1
  }),
  'demo-unexpected': entry({
    message: ({ what }) => `the demo did not go as expected: ${what}`,
    hint: ({ logFolder }) =>
    `${logFolder} has the output of its processes; run the demo again with --keep to look around`,
    retryable: false,
    exit: 1
  }),
  'config-file-unusable': entry({
    message: ({ file, why }) => `${file} cannot be used as configuration: ${why}`,
    hint: () => 'sources are text files of one tree (docs/guides/configuration.md); fix the file or remove it',
    retryable: false,
    exit: 2
  }),
  'config-import-refused': entry({
    message: ({ file, imported, why }) => `${file} cannot import ${imported}: ${why}`,
    hint: () => "import only 'zod', 'conveyor/config' and, by relative path, files of the tree",
    retryable: false,
    exit: 2
  }),
  'config-programs-unprotected': entry({
    message: ({ missing, why }) =>
    `a configuration program cannot run on this machine: ${(0, _isolation.withoutIsolation)(missing) ?? 'its isolation is unknown'}${why === null ? '' : ` (${why})`}`,
    hint: ({ missing }) =>
    `conveyor doctor lists what this machine lacks; or accept the gaps in conveyor.config.yaml: config.programs.allowMissing: [${missing.join(', ')}]`,
    retryable: true,
    exit: 1
  }),
  'config-program-failed': entry({
    message: ({ file, how }) => `${file} produced no value: ${how}`,
    hint: () =>
    'a program must compute its value from its imports and exit; until it does, nothing in the tree changes',
    retryable: false,
    exit: 2
  }),
  'config-not-deterministic': entry({
    message: ({ file, path, first, second }) =>
    `${file} produced different values for ${path} in two runs: first ${first}, then ${second}`,
    hint: () => 'remove the dependence on the time, the time zone or randomness; write a fixed value instead',
    retryable: false,
    exit: 2
  }),
  'config-value-refused': entry({
    message: ({ path, file, by, why, chain }) =>
    `${path} of ${file} is refused by ${by}: ${why}${chain.length > 1 ? `; imported as ${chain.join(' → ')}` : ''}`,
    hint: ({ file }) => `fix the value in ${file}, or have the owner of the rule change it`,
    retryable: false,
    exit: 2
  }),
  'config-validator-failed': entry({
    message: ({ path, invariant, file, how }) => `${invariant} of ${file} could not judge ${path}: ${how}`,
    hint: ({ file }) => `the invariant is broken: no value passes until its owner fixes ${file}`,
    retryable: false,
    exit: 2
  }),
  'config-path-taken': entry({
    message: ({ path, files }) => `${files.join(' and ')} both write ${path}`,
    hint: () => 'a path has one source; rename or remove one of them',
    retryable: false,
    exit: 2
  }),
  'config-repository-unusable': entry({
    message: ({ repository, detail }) => `the configuration repository ${repository} cannot be used: ${detail}`,
    hint: ({ repository }) => `git fsck in ${repository} says what is broken; nothing was changed`,
    retryable: false,
    exit: 1
  }),
  'config-repository-unreachable': entry({
    message: ({ repository, detail }) => `the configuration repository ${repository} does not answer: ${detail}`,
    hint: () =>
    'check its address under config.repositories of conveyor.config.yaml, and try again; nothing is done twice',
    retryable: true,
    exit: 1
  }),
  'config-change-unknown': entry({
    message: ({ repository, change }) => `there is no change ${change} in ${repository}`,
    hint: () => 'conveyor config status lists the changes',
    retryable: false,
    exit: 4
  }),
  'config-conflict': entry({
    message: ({ change, file, by, value }) => {
      const who = change === null ? 'this' : `change ${change}`;
      return value === undefined ?
      `${who} cannot land: ${file} was changed by ${by} meanwhile` :
      `${who} cannot land: it would now also change ${value}, which was not in the proposal; ${file}, which produces that value, was last changed by ${by}`;
    },
    hint: ({ value }) =>
    value === undefined ?
    'merge the change that landed and propose again' :
    'merge the change that landed, check with conveyor config diff which values change now, and propose again',
    retryable: false,
    exit: 1
  }),
  'config-not-one-pipeline': entry(


    {
      message: ({ parts, unowned }) => {
        const owned = parts.slice(0, 3).map(({ pipeline, path }) => `${path} (${pipeline})`);
        return `no single pipeline releases all of this: it changes ${[...owned, ...(unowned === undefined ? [] : [`${unowned} (no pipeline)`])].join(', ')}`;
      },
      hint: () =>
      'propose one change for each pipeline, or let one pipeline own all these paths, in its artifact and in the config of its deploy',
      retryable: false,
      exit: 1
    }),
  'config-base-unknown': entry({
    message: ({ folder, name }) =>
    `cannot tell which commit of ${name} the folder ${folder} is based on, so this could undo changes that others have landed since`,
    hint: ({ folder, git }) =>
    `work in a clone (git clone ${git ?? 'URL'}), or pass the commit that ${folder} was copied from as --base COMMIT; conveyor config log lists the commits`,
    retryable: false,
    exit: 2
  }),
  'config-branch-rewritten': entry({
    message: ({ repository, commit }) =>
    `the branch of ${repository} no longer contains the distributed commit ${commit.slice(0, 12)}`,
    hint: () =>
    'restore it: git push --force REMOTE FORMER-HEAD:BRANCH; take distributed values back with a change, never by rewriting the branch',
    retryable: false,
    exit: 1
  }),
  'config-unchanged': entry({
    message: ({ repository }) => `${repository} already holds exactly this`,
    hint: () => 'conveyor config diff shows what would change',
    retryable: false,
    exit: 1
  }),
  'package-invalid': entry({
    message: ({ path, why }) => `the value of ${path} is not a valid package: ${why}`,
    hint: () => 'create it with conveyor config publish-model; hosts keep their present package',
    retryable: false,
    exit: 2
  }),
  'archive-unavailable': entry({
    message: ({ place, detail }) => `the archive at ${place} cannot be used now: ${detail}`,
    hint: () => 'check its disk or its server; deploys continue, and their results are archived later',
    retryable: true,
    exit: 1
  }),
  'archive-unusable': entry({
    message: ({ place, detail }) => `the archive at ${place} is broken: ${detail}`,
    hint: () => 'move it away and run conveyor archive rebuild, which fills a new one from Temporal',
    retryable: false,
    exit: 1
  }),
  'archive-foreign': entry({
    message: ({ place, origin, own }) =>
    `the archive at ${place} belongs to namespace ${origin}, but this is namespace ${own}`,
    hint: () => 'give each namespace its own archive, under archive in conveyor.config.yaml',
    retryable: false,
    exit: 2
  }),
  'backup-failed': entry({
    message: ({ part, detail }) => `no backup was made: ${part}: ${detail}`,
    hint: ({ how }) => how,
    retryable: true,
    exit: 1
  }),
  'backup-unusable': entry({
    message: ({ folder, why }) => `the backup ${folder} cannot be restored here: ${why}`,
    hint: ({ how }) => how ?? 'use another backup; this one is incomplete',
    retryable: false,
    exit: 1
  }),
  'restore-refused': entry({
    message: ({ why }) => `nothing was restored: ${why}`,
    hint: ({ how }) => how,
    retryable: false,
    exit: 1
  }),
  internal: entry({
    message: ({ detail }) => `something went wrong inside Conveyor: ${detail}`,
    hint: () => 'this is a defect; please report it with the command that you typed',
    retryable: false,
    exit: 1
  })
};




/** Thrown for everything in the table above; carries the message and the exit code of the command line. */
class ConveyorError extends Error {
  name = 'ConveyorError';

  constructor(
  code,
  message,
  hint,
  retryable,
  exit)
  {
    super(message);this.code = code;this.hint = hint;this.retryable = retryable;this.exit = exit;
  }
}

/** The error for a code, worded with its parameters: `throw conveyorError('unknown-release', { id })`. */exports.ConveyorError = ConveyorError;
function conveyorError(code, params) {
  const row = ERRORS[code];
  return new ConveyorError(code, row.message(params), row.hint(params), row.retryable, row.exit);
}

/** The error for input that every entry point refuses. */
const unfitError = (unfit) =>
'why' in unfit ? conveyorError('invalid-text', unfit) : conveyorError('over-limit', unfit);exports.unfitError = unfitError; /* v9-7316f37e5b5f3e2a */
