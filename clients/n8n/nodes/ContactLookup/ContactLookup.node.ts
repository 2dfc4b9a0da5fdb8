import {
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type JsonObject,
  NodeApiError,
  NodeConnectionTypes,
} from "n8n-workflow";

import { answerOf } from "../../shared/transport";
import { callOf } from "./calls";
import { properties } from "./descriptions";

/** The endpoints of the extension: look up, reveal, enrich and save people, and find companies by website. */
export class ContactLookup implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Contact Lookup",
    name: "contactLookup",
    icon: { light: "file:../../icons/contact-lookup.svg", dark: "file:../../icons/contact-lookup.dark.svg" },
    group: ["transform"],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: "Reveal, enrich and save business contacts with your own service",
    defaults: { name: "Contact Lookup" },
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    usableAsTool: true,
    credentials: [{ name: "contactLookupApi", required: true }],
    properties,
  };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const results: INodeExecutionData[] = [];
    for (let itemIndex = 0; itemIndex < this.getInputData().length; itemIndex++) {
      try {
        const wait = this.getNodeParameter("wait", itemIndex, 0) as number;
        const json = await answerOf(this, callOf(this, itemIndex), itemIndex, wait);
        results.push({ json, pairedItem: { item: itemIndex } });
      } catch (error) {
        if (!this.continueOnFail()) throw new NodeApiError(this.getNode(), error as JsonObject, { itemIndex });
        results.push({ json: { error: (error as Error).message }, pairedItem: { item: itemIndex } });
      }
    }
    return [results];
  }
}
