import {
  type ICredentialsDecrypted,
  type ICredentialTestFunctions,
  type IDataObject,
  type INodeCredentialTestResult,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  NodeConnectionTypes,
} from "n8n-workflow";

import type { paths } from "../../shared/schema";
import { isSigned } from "./signature";

type EventType =
  paths["/api/webhook-endpoints"]["post"]["requestBody"]["content"]["application/json"]["types"][number];

const EVENTS: Record<EventType, string> = {
  "contact.job_changed": "Contact Changed Company",
  "crm.push_failed": "CRM Push Failed",
  "crm_schedule.stopped": "CRM Schedule Stopped",
  "job.finished": "Job Finished",
  "person.erased": "Person Erased",
  "person.rectified": "Person Rectified",
  "credits.limit_warning": "Spending Limit Nearly Used",
  "credits.limit_reached": "Spending Limit Used",
  "webhook_endpoint.disabled": "Webhook Endpoint Disabled",
};

/** Starts a workflow for each event of the workspace. An admin registers the URL of this node on the page /webhooks. */
export class ContactLookupTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Contact Lookup Trigger",
    name: "contactLookupTrigger",
    icon: { light: "file:../../icons/contact-lookup.svg", dark: "file:../../icons/contact-lookup.dark.svg" },
    group: ["trigger"],
    version: 1,
    subtitle: '={{$parameter["events"].join(", ")}}',
    description: "Starts the workflow when something happens in your workspace",
    defaults: { name: "Contact Lookup Trigger" },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    usableAsTool: true,
    credentials: [{ name: "contactLookupWebhookApi", required: true, testedBy: "secretHasItsForm" }],
    webhooks: [{ name: "default", httpMethod: "POST", responseMode: "onReceived", path: "webhook", rawBody: true }],
    properties: [
      {
        displayName:
          "An admin creates an endpoint with the URL of this node on the page /webhooks of your service, and puts its secret into the credential",
        name: "notice",
        type: "notice",
        default: "",
      },
      {
        displayName: "Events",
        name: "events",
        type: "multiOptions",
        options: Object.entries(EVENTS).map(([value, name]) => ({ name, value })),
        default: ["job.finished"],
        description: "Others that the endpoint receives are accepted and ignored",
      },
    ],
  };

  methods = {
    credentialTest: {
      async secretHasItsForm(
        this: ICredentialTestFunctions,
        credential: ICredentialsDecrypted,
      ): Promise<INodeCredentialTestResult> {
        const isSecret = /^whsec_[A-Za-z0-9+/]{20,}={0,2}$/.test(String(credential.data?.secret));
        return isSecret
          ? { status: "OK", message: "The secret has its form." }
          : { status: "Error", message: "Copy the secret of the endpoint from the page /webhooks; it begins with whsec_." };
      },
    },
  };

  // The URL is registered by an admin: an API key may not create endpoints.
  webhookMethods = {
    default: {
      async checkExists(): Promise<boolean> {
        return true;
      },
      async create(): Promise<boolean> {
        return true;
      },
      async delete(): Promise<boolean> {
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const request = this.getRequestObject();
    const { secret } = await this.getCredentials<{ secret: string }>("contactLookupWebhookApi");
    const body = request.rawBody ?? Buffer.from("");
    if (!isSigned(body, this.getHeaderData() as Record<string, unknown>, secret)) {
      this.getResponseObject().status(401).json({ error: "The signature is wrong, or the message is too old." });
      return { noWebhookResponse: true };
    }
    const event = JSON.parse(body.toString("utf8")) as IDataObject;
    const wanted = this.getNodeParameter("events") as string[];
    if (!wanted.includes(String(event.type)) && event.type !== "webhook_endpoint.test") return {};
    return { workflowData: [this.helpers.returnJsonArray([event])] };
  }
}
