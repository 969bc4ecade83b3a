/** Pages of the Temporal Web UI at a given address. */

/** One workflow. */
export const workflowPage = (webUi: string, namespace: string, workflowId: string): string =>
  `${webUi}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`;

/**
 * The list of pipelines, releases and deploys, of one pipeline or of all. Locks and sweeps belong to no pipeline, so
 * they are left out.
 */
export const listPage = (webUi: string, namespace: string, pipeline?: string): string => {
  const query = pipeline === undefined ? 'ConveyorPipeline IS NOT NULL' : `ConveyorPipeline = "${pipeline}"`;
  return `${webUi}/namespaces/${namespace}/workflows?query=${encodeURIComponent(query)}`;
};
