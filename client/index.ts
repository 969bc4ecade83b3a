import { requireId } from '../domain/target';
import type { ConveyorClient } from './api';
import { applyPipeline, exportPipeline, importPipeline, resolveTaskQueue } from './apply';
import { sendCommand } from './commands';
import { connectTemporal } from './connection';
import { featureClient } from './features';
import { historyOfPipeline } from './history';
import { listFinders, listDeploys, listPipelines, listReleases } from './lists';
import { actionLogs } from './logs';
import { lookNow } from './lookNow';
import { listAllOffers, pipelineOffers } from './offerLists';
import type { ClientOptions } from './options';
import { temporalReadiness } from './readiness';
import { pushEmergency, createRelease, rerunRelease, submitArtifacts } from './releases';
import { findRevision } from './where';
import { Workflows } from './workflows';

export type { ConveyorClient, EmergencyPush, ListQuery } from './api';

/** A client of a Temporal server. @throws ConveyorError `temporal-unreachable` */
export async function createClient(options: ClientOptions = {}): Promise<ConveyorClient> {
  const temporal = await connectTemporal({ seal: options.platform?.seal, ...options });
  const workflows = new Workflows(temporal, options.webUi ?? webUiUrl(temporal.address), options.isInRange);
  return {
    apply: (spec, actor, permitted) => applyPipeline(workflows, options, spec, { actor, permitted }),
    exportPipeline: (pipeline) => exportPipeline(workflows, pipeline),
    importPipeline: (document, actor, permitted) => importPipeline(workflows, options, document, { actor, permitted }),
    spec: async (pipeline) => (await workflows.pipelineState(pipeline)).spec,
    release: (pipeline, artifacts, trigger) => createRelease(workflows, pipeline, { artifacts, trigger }),
    submit: (pipeline, artifacts, trigger) => submitArtifacts(workflows, pipeline, { artifacts, trigger }),
    push: (pipeline, action, artifacts, given) => pushEmergency(workflows, pipeline, action, artifacts, given),
    rerun: (pipeline, number, given) => rerunRelease(workflows, pipeline, number, given),
    status: (text) => statusById(workflows, text),
    listPipelines: (query) => listPipelines(workflows, query),
    listReleases: (query) => listReleases(workflows, query),
    listDeploys: (query) => listDeploys(workflows, query),
    where: (query) => findRevision(workflows, query),
    listFinders: () => listFinders(workflows),
    listOffers: (query) => listAllOffers(workflows, query),
    offers: (pipeline) => pipelineOffers(workflows, pipeline),
    history: (pipeline) => historyOfPipeline(workflows, pipeline),
    logs: (id, attempt) => actionLogs(workflows, id, attempt),
    command: (id, verb, input) => sendCommand(workflows, id, verb, input),
    lookNow: (runId) => lookNow(workflows, runId),
    ...featureClient(workflows, options),
    readiness: () => temporalReadiness(temporal, resolveTaskQueue(options)),
    close: () => temporal.connection.close(),
  };
}

function webUiUrl(address: string): string {
  const given = process.env['CONVEYOR_WEB_UI'];
  if (given) return given;
  const [host = 'localhost', port = '7233'] = address.split(':');
  return `http://${host}:${Number(port) + 1000}`;
}

async function statusById(workflows: Workflows, text: string) {
  const id = requireId(text);
  if (id.kind === 'pipeline') return workflows.pipeline(id.pipeline);
  return id.kind === 'release'
    ? workflows.releaseWithWaits(id.pipeline, id.number)
    : workflows.deploy(id.pipeline, id.number, id.action);
}
